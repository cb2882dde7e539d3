/**
 * How fast a backlog is sent to many endpoints: by the service, by a bare loop that signs and posts, and by a job queue on PostgreSQL, all
 * on the server's core and to the same receiver.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchOptions } from '../jobs/context.ts'
import { postgresDurability, sqliteDurability } from '../peers/loops.ts'
import { caseResult } from '../support/figures.ts'
import { serverCore, spawnPinned, stop } from '../support/pinned.ts'
import type { RunningPostgres } from '../support/postgres.ts'
import { firstLine, usageOfTrees } from '../support/server.ts'
import type { RunningService } from '../support/service.ts'
import type { Target, TargetFigure } from '../support/targets.ts'
import type { LoadFigures } from '../support/wrk.ts'
import { checkArrived, ratesDuring, untilMessages, verifySamples } from './receiver.ts'
import type { WebhookReceiver } from './receiver.ts'
import type { WebhookSite } from './site.ts'

export const loopSubject = 'bare signing loop'
export const queueSubject = 'job queue on PostgreSQL'
export const backlogWhat = 'a backlog'
const loopConcurrency = 4
/** With 16 and 64 it was slower here. */
const queueWorkers = 32
/** Parts of a backlog that are measured by themselves: before the first V8 compiles, and after the last few endpoints are left. */
const begin = 0.2
const parts = [0.45, 0.7, 0.95] as const

export type ThroughputOptions = Pick<BenchOptions, 'report' | 'seconds'> & {
  readonly receiver: WebhookReceiver
  /** A file of events, one a line, for the peers. */
  readonly eventFile: string
}

/** The service has just started, and sends its backlog. Every event has to come, rightly signed. */
export async function measureBacklog(
  { receiver, report }: ThroughputOptions,
  site: WebhookSite,
  service: RunningService,
  postgres?: RunningPostgres,
): Promise<void> {
  const expected = site.endpoints.map(({ tenant }) => site.backlogs[tenant] ?? 0)
  const messages = expected.reduce((sum, events) => sum + events, 0)
  const postgresBeforeS = postgres?.cpuS() ?? 0
  await untilMessages(receiver, messages * begin)
  const runs: LoadFigures[] = []
  for (const part of parts)
    runs.push(await ratesDuring(receiver, service, () => untilMessages(receiver, messages * part)))
  await untilMessages(receiver, messages)
  const seen = await receiver.seen()
  checkArrived(seen, expected)
  verifySamples(seen.samples, (endpoint) => site.endpoints[endpoint]?.secret ?? '')
  const durability = postgres === undefined ? sqliteDurability : postgresDurability
  report(caseResult('webhooks', subjectOf(postgres), backlogWhat, runs, { durability }))
  if (postgres === undefined) return
  const microseconds = Math.round(((postgres.cpuS() - postgresBeforeS) / messages) * 1e6)
  process.stdout.write(`     PostgreSQL itself took ${microseconds} µs a message\n`)
}

export function subjectOf(postgres: RunningPostgres | undefined): string {
  return `property-events on ${postgres === undefined ? 'SQLite' : 'PostgreSQL'}`
}

/** As many as a bare loop sends, and many more than a job queue; the processor time is that of the sender alone. */
export function aimAtPeers({ aim }: Pick<BenchOptions, 'aim'>): void {
  for (const engine of ['SQLite', 'PostgreSQL']) {
    const beside = (text: string, theirs: string, figure: TargetFigure, wanted: Target['wanted']): void =>
      aim({
        job: 'webhooks',
        text: `${engine}, a backlog: ${text}`,
        ours: { subject: `property-events on ${engine}`, what: backlogWhat },
        theirs: { subject: theirs, what: backlogWhat },
        figure,
        wanted,
      })
    beside('of a bare signing loop', loopSubject, 'requestsPerSecond', { atLeast: 0.7 })
    beside('of its processor time', loopSubject, 'cpuMicrosecondsPerRequest', { atMost: 1.43 })
    beside('times a job queue', queueSubject, 'requestsPerSecond', { atLeast: 3 })
  }
}

/** One run of the bare loop. */
export async function runLoop(
  { receiver, eventFile, seconds }: ThroughputOptions,
  endpoints: number,
): Promise<LoadFigures> {
  const args = [receiver.url, String(endpoints), String(loopConcurrency), eventFile]
  return runPeer(receiver, 'webhook-loop.ts', args, seconds)
}

/** One run of the job queue, on a database of its own. */
export async function runQueue(
  { receiver, eventFile, seconds }: ThroughputOptions,
  endpoints: number,
  databaseUrl: string,
): Promise<LoadFigures> {
  // More than it can send meanwhile.
  const rows = String(Math.ceil((2 + seconds) * 3_000))
  const args = [databaseUrl, receiver.url, String(endpoints), rows, String(queueWorkers), eventFile]
  return runPeer(receiver, 'webhook-queue.ts', args, seconds)
}

/** Of the time of a run: V8 has compiled what it runs after two seconds. */
const warmShare = 0.4

async function runPeer(
  receiver: WebhookReceiver,
  program: string,
  args: readonly string[],
  seconds: number,
): Promise<LoadFigures> {
  const child = spawnPinned(serverCore, process.execPath, [
    join(import.meta.dirname, '../peers', program),
    ...args,
  ])
  child.stderr?.pipe(process.stderr)
  try {
    await firstLine(child)
    await receiver.forget()
    await delay(seconds * warmShare * 1_000)
    const sender = usageOfTrees(() => [child.pid ?? 0])
    return await ratesDuring(receiver, sender, () => delay(seconds * 1_000))
  } finally {
    await stop(child)
  }
}
