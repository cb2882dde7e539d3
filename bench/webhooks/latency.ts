/**
 * How long an event takes from the moment it is due to be published until it arrives at each of its endpoints, at a steady pace: with
 * receivers that all answer, and beside some that take everything and never do, in turn.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchOptions } from '../jobs/context.ts'
import { caseResult } from '../support/figures.ts'
import { loadCore, runPinned } from '../support/pinned.ts'
import { publicationBodies, publishPath } from '../support/publications.ts'
import type { RunningService } from '../support/service.ts'
import { listFile } from '../support/wrk.ts'
import type { LoadFigures, LoadReport } from '../support/wrk.ts'
import { markText } from './mark.ts'
import { untilMessages } from './receiver.ts'
import type { WebhookReceiver } from './receiver.ts'
import { setTarpits } from './site.ts'
import type { WebhookSite } from './site.ts'

const messagesPerSecond = 500
const aimedMs = 500
/** Until those that begin to hang have as many requests under way as they may have. */
const hangingMs = 1_000

export type LatencyOptions = Pick<
  BenchOptions,
  'report' | 'aim' | 'runs' | 'seconds' | 'folder' | 'averageBytes'
> & { readonly receiver: WebhookReceiver }

export async function measureFirstTries(
  options: LatencyOptions,
  site: WebhookSite,
  service: RunningService,
  subject: string,
): Promise<void> {
  const alone = `first try, ${messagesPerSecond} messages/s`
  const beside = `${alone}, beside ${site.tarpits.length} that hang`
  const bodies = listFile(options.folder, 'webhook-bodies', markedBodies(options.averageBytes))
  const runs = { alone: [] as LoadFigures[], beside: [] as LoadFigures[] }
  await run(options, site, service, bodies)
  for (let round = 0; round < options.runs; round += 1) {
    runs.alone.push(await run(options, site, service, bodies))
    const before = await options.receiver.seen()
    await setTarpits(site, service, 'enabled')
    await delay(hangingMs)
    runs.beside.push(await run(options, site, service, bodies))
    const after = await options.receiver.seen()
    if (after.tarpitMessages - before.tarpitMessages < site.tarpits.length)
      throw new Error('not all that should hang were sent something')
    await setTarpits(site, service, 'paused')
  }
  options.report(caseResult('webhooks', subject, alone, runs.alone))
  options.report(caseResult('webhooks', subject, beside, runs.beside))
  const ours = { job: 'webhooks', figure: 'p99Ms' } as const
  options.aim({
    ...ours,
    text: `${subject}, first try at ${messagesPerSecond} messages/s: 99 % of them`,
    ours: { subject, what: alone },
    theirs: aimedMs,
    wanted: { atMost: 1 },
  })
  options.aim({
    ...ours,
    text: `${subject}, beside ${site.tarpits.length} that hang: 99 % of the others`,
    ours: { subject, what: beside },
    theirs: { subject, what: alone },
    wanted: { atMost: 1.2 },
  })
}

function markedBodies(averageBytes: number): readonly string[] {
  return publicationBodies(averageBytes, 1).map((body) => {
    const { payload }: { payload: object } = JSON.parse(body)
    return JSON.stringify({ payload: { ...payload, service_reference: markText } })
  })
}

/** The tenants publish in turn, and each event goes to all endpoints of its tenant. */
async function run(
  { receiver, seconds }: LatencyOptions,
  { keys, scale }: WebhookSite,
  service: RunningService,
  bodies: string,
): Promise<LoadFigures> {
  await receiver.forget()
  const [beganMs, beganS] = [performance.now(), service.cpuS()]
  const perSecond = String(messagesPerSecond / scale.endpointsPerTenant)
  const program = join(import.meta.dirname, '../load/steady.ts')
  const args = [program, service.url, publishPath, keys.join(','), perSecond, String(seconds), bodies]
  const output = await runPinned(loadCore, process.execPath, args)
  const { requests, errors }: LoadReport = JSON.parse(output)
  if (errors > 0) throw new Error(`${errors} publications were answered with errors`)
  const messages = requests * scale.endpointsPerTenant
  await untilMessages(receiver, messages)
  const { bytes, timesMs } = await receiver.seen()
  if (timesMs.length < messages) throw new Error(`${timesMs.length} of ${messages} messages have a mark`)
  const took = (performance.now() - beganMs) / 1_000
  const sorted = timesMs.toSorted((one, other) => one - other)
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return {
    requestsPerSecond: messages / took,
    megabytesPerSecond: bytes / took / 1e6,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    errors,
    cpuMicrosecondsPerRequest: ((service.cpuS() - beganS) / messages) * 1e6,
    memoryMiB: service.memoryMiB(),
  }
}
