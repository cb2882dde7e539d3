/**
 * Webhooks to a thousand endpoints, on both engines: how fast a backlog is sent, beside a bare loop that signs and posts and beside a job
 * queue on PostgreSQL; how long a first try takes at 500 messages a second, alone and beside a hundred receivers that hang; and what
 * endpoints with nothing to be sent cost, at rest and those who publish and read, beside `--webhooks off`. The service, its database and
 * the peers have core 0, the receiver core 1. Every event has to arrive, and samples are verified by the library of Standard Webhooks.
 * Writes `bench/results/webhooks-<messages>.json`; with `--quick` only where told.
 *
 * `--quick` takes a minute, on SQLite unless told otherwise.
 *
 *     node bench/webhooks.ts [--quick] [--engines sqlite,postgres] [--results FOLDER]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import type { BenchOptions } from './jobs/context.ts'
import { caseResult } from './support/figures.ts'
import { startPostgres } from './support/postgres.ts'
import type { RunningPostgres } from './support/postgres.ts'
import { publicationBodies } from './support/publications.ts'
import { createRecorder } from './support/recorder.ts'
import type { StorePlace } from './support/store.ts'
import { listFile } from './support/wrk.ts'
import type { LoadFigures } from './support/wrk.ts'
import { startReceiver } from './webhooks/receiver.ts'
import { makeSite } from './webhooks/site.ts'
import type { Scale, WebhookSite } from './webhooks/site.ts'
import { measureOthers, measureRest } from './webhooks/beside-off.ts'
import { measureFirstTries } from './webhooks/latency.ts'
import {
  aimAtPeers,
  backlogWhat,
  loopSubject,
  measureBacklog,
  queueSubject,
  runLoop,
  runQueue,
  subjectOf,
} from './webhooks/throughput.ts'
import type { ThroughputOptions } from './webhooks/throughput.ts'

const usual: Scale = { tenants: 200, endpointsPerTenant: 5, tarpits: 100, backlog: 60, quietEvents: 1_000 }
const quick: Scale = { tenants: 20, endpointsPerTenant: 5, tarpits: 10, backlog: 60, quietEvents: 200 }

const averageBytes = 3_600
const concurrency = 4

/** How much is measured, beside what every job is told. */
interface Extent {
  readonly scale: Scale
  readonly engines: readonly string[]
  readonly restSeconds: number
  /** Before publishing is measured, to let V8 compile; `undefined`: as for every job. */
  readonly warmRuns: number | undefined
}

const whole: Extent = {
  scale: usual,
  engines: ['sqlite', 'postgres'],
  restSeconds: 30,
  warmRuns: undefined,
}

export async function benchWebhooks(given: BenchOptions, extent = whole): Promise<void> {
  const { scale } = extent
  const endpoints = scale.tenants * scale.endpointsPerTenant
  await using postgres = await startPostgres()
  await using receiver = await startReceiver()
  const bodies = publicationBodies(averageBytes, 1).slice(0, 1_000)
  const options = { ...given, receiver, eventFile: listFile(given.folder, 'webhook-events', bodies) }
  const queueUrl = await newDatabase(postgres.url, 'queue_peer')
  const loops: LoadFigures[] = [await runLoop(options, endpoints)]
  for (const engine of extent.engines) {
    await benchEngine(options, extent, engine === 'postgres' ? postgres : undefined)
    loops.push(await runLoop(options, endpoints))
  }
  const queues: LoadFigures[] = []
  for (let run = 0; run < given.runs; run += 1) queues.push(await runQueue(options, endpoints, queueUrl))
  given.report(caseResult('webhooks', loopSubject, backlogWhat, loops))
  given.report(caseResult('webhooks', queueSubject, backlogWhat, queues))
  aimAtPeers(given)
}

async function benchEngine(
  options: ThroughputOptions & BenchOptions,
  { scale, restSeconds, warmRuns }: Extent,
  postgres: RunningPostgres | undefined,
): Promise<void> {
  const { receiver } = options
  const subject = subjectOf(postgres)
  const siteOf = async (name: string, backlog: number): Promise<WebhookSite> => {
    const folder = join(options.folder, `${postgres === undefined ? 'sqlite' : 'postgres'}-${name}`)
    const place: StorePlace =
      postgres === undefined
        ? { kind: 'sqlite', folder }
        : { kind: 'postgres', url: await newDatabase(postgres.url, name) }
    return makeSite(place, folder, receiver.url, { ...scale, backlog })
  }
  const [site, idle] = [await siteOf('webhooks_on', scale.backlog), await siteOf('webhooks_off', 0)]
  await receiver.forget()
  {
    await using service = await site.serve('on')
    await measureBacklog(options, site, service, postgres)
    await measureFirstTries(options, site, service, subject)
  }
  // Both have done nothing yet.
  await using service = await site.serve('on')
  await using off = await idle.serve('off')
  const sides = { on: { site, service }, off: { site: idle, service: off } }
  await measureRest(options, sides, subject, restSeconds)
  await measureOthers({ ...options, seconds: 1 }, sides, subject, warmRuns)
}

async function newDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return serverUrl.replace(/\/postgres$/, `/${name}`)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      engines: { type: 'string' },
      results: { type: 'string' },
    },
  })
  const { quick: isQuick } = values
  const engines = values.engines ?? (isQuick ? 'sqlite' : 'sqlite,postgres')
  const extent: Extent = isQuick ? { ...whole, scale: quick, restSeconds: 3, warmRuns: 1 } : whole
  const { scale } = extent
  const endpoints = scale.tenants * scale.endpointsPerTenant
  const settings = {
    events: endpoints * scale.backlog,
    averageBytes,
    runs: isQuick ? 1 : 3,
    seconds: isQuick ? 1 : 5,
    connections: endpoints * concurrency,
  }
  const recorder = createRecorder(settings)
  const folder = mkdtempSync(join(tmpdir(), 'property-events-webhooks-'))
  try {
    const options = { ...settings, minutes: 0, folder, ...recorder }
    await benchWebhooks(options, { ...extent, engines: engines.split(',') })
    const results = values.results ?? (isQuick ? undefined : join(import.meta.dirname, 'results'))
    if (results !== undefined) recorder.save('webhooks', results)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await main()
