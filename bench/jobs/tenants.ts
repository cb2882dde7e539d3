/**
 * 10,000 tenants in one store: durable publishing spread over all of them, on PostgreSQL through one node and through
 * two, and on SQLite; and what it costs to tell each of them once that nothing is new. Nodes and PostgreSQL share the
 * server's core.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { generate } from '../../packages/demo/src/demo-data/generate.ts'
import { ask } from '../support/ask-postgres.ts'
import { caseResult, median, rounded } from '../support/figures.ts'
import type { CaseFacts, CaseResult } from '../support/figures.ts'
import {
  checkNumbers,
  checkPublishing,
  headTags,
  headTarget,
  makeStore,
  tenants,
} from '../support/many-tenants.ts'
import { loadCore, runPinned, usageOf } from '../support/pinned.ts'
import { startPostgres } from '../support/postgres.ts'
import type { RunningPostgres } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import type { RunningService } from '../support/service.ts'
import { listFile, runLoad } from '../support/wrk.ts'
import type { LoadFigures } from '../support/wrk.ts'
import type { BenchOptions } from './context.ts'

const pollingConnections = 50
/** How long a key that was looked up stays known: a client polls less often. */
const keyCacheMs = 1_100
/** SQLite with `synchronous=FULL`, PostgreSQL with `fsync` and `synchronous_commit` on. */
const durability = 'flushed'

/** A store and the nodes that serve it. */
interface Place {
  readonly name: string
  readonly nodes: readonly RunningService[]
  readonly postgres: RunningPostgres | undefined
}

/** The results of a run, and what the database used. */
interface TenantFigures extends LoadFigures {
  readonly databaseCpuMicrosecondsPerRequest?: number
}

interface TenantResult extends CaseResult {
  readonly databaseCpuMicrosecondsPerRequest?: number
  readonly queriesPerRequest?: number
}

export async function benchTenants(options: BenchOptions): Promise<void> {
  const bodies = bodyFiles(options)
  {
    const folder = join(options.folder, 'tenants-sqlite')
    const keys = await makeStore({ kind: 'sqlite', folder }, folder)
    await using node = await startService(folder, { args: ['--page-file-bytes', '0'] })
    await benchPlace(options, { name: 'SQLite', nodes: [node], postgres: undefined }, keys, bodies)
  }
  await using postgres = await startPostgres()
  const folders = ['one', 'two'].map((name) => join(options.folder, `tenants-${name}`))
  const [first = '', second = ''] = folders
  const keys = await makeStore({ kind: 'postgres', url: postgres.url }, first)
  mkdirSync(second)
  copyFileSync(join(first, 'pepper'), join(second, 'pepper'))
  const args = ['--database', postgres.url, '--page-file-bytes', '0']
  await using one = await startService(first, { args })
  await benchPlace(options, { name: 'PostgreSQL', nodes: [one], postgres }, keys, bodies)
  await using two = await startService(second, { args })
  await benchPlace(options, { name: 'PostgreSQL, 2 nodes', nodes: [one, two], postgres }, keys, bodies)
  await checkNumbers(postgres.url)
}

/** Single events, and batches of 10. */
function bodyFiles(options: BenchOptions): ReadonlyMap<number, string> {
  const count = Math.min(options.events, 10_000)
  const events = [...generate({ events: count, seed: 'publish', averageBytes: options.averageBytes })].filter(
    (line) => line.startsWith('{"payload"'),
  )
  const tens = Array.from(
    { length: Math.floor(events.length / 10) },
    (_, index) => `[${events.slice(index * 10, index * 10 + 10).join(',')}]`,
  )
  return new Map([
    [1, listFile(options.folder, 'tenants-bodies-1', events)],
    [10, listFile(options.folder, 'tenants-bodies-10', tens)],
  ])
}

async function benchPlace(
  options: BenchOptions,
  place: Place,
  keys: readonly string[],
  bodies: ReadonlyMap<number, string>,
): Promise<void> {
  const keyFile = listFile(options.folder, 'tenants-keys', keys)
  await checkPublishing(place.nodes, keys, bodies.get(1) ?? '')
  // Once before the measurement.
  await publishSpread(options, place, 50, keyFile, bodies.get(10) ?? '')
  for (const [count, file] of bodies) {
    for (const connections of [50, 200]) {
      const what = `${count === 1 ? '1 event' : `${count} events`}, ${connections} clients`
      const run = (): Promise<TenantFigures> => publishSpread(options, place, connections, keyFile, file)
      options.report(resultOf(place, what, await runsOf(options, run), { events: count, durability }))
    }
  }
  const [node, another] = place.nodes
  if (node === undefined || another !== undefined) return
  const tagFile = listFile(options.folder, 'tenants-tags', await headTags(node, keys))
  await delay(keyCacheMs)
  const queriesBefore = place.postgres && (await queriesOf(place.postgres.url))
  const runs = await runsOf(options, () => pollOnce(place, keyFile, tagFile))
  const result = resultOf(place, `${tenants} idle polls, once each`, runs)
  if (place.postgres === undefined || queriesBefore === undefined) return options.report(result)
  const queries = (await queriesOf(place.postgres.url)) - queriesBefore
  const withQueries: TenantResult = { ...result, queriesPerRequest: rounded(queries / tenants / runs.length) }
  options.report(withQueries)
}

async function runsOf(
  options: BenchOptions,
  run: () => Promise<TenantFigures>,
): Promise<readonly TenantFigures[]> {
  const runs: TenantFigures[] = []
  for (let round = 0; round < options.runs; round += 1) runs.push(await run())
  return runs
}

function resultOf(
  { name }: Place,
  what: string,
  runs: readonly TenantFigures[],
  facts: CaseFacts = {},
): TenantResult {
  if (runs.some(({ errors }) => errors > 0)) throw new Error(`${name} ${what}: answers were errors`)
  const used = runs.flatMap((run) => run.databaseCpuMicrosecondsPerRequest ?? [])
  return {
    ...caseResult('tenants', name, what, runs, facts),
    ...(used.length > 0 ? { databaseCpuMicrosecondsPerRequest: rounded(median(used)) } : {}),
  }
}

/** As many clients for each node, starting at different tenants. */
async function publishSpread(
  options: BenchOptions,
  place: Place,
  connections: number,
  keyFile: string,
  bodyFile: string,
): Promise<TenantFigures> {
  const { nodes } = place
  const used = usage(place)
  const seen = await Promise.all(
    nodes.map(({ url }, index) =>
      runLoad({
        url,
        script: 'spread.lua',
        connections: connections / nodes.length,
        seconds: options.seconds,
        env: {
          TARGET: '/v1/property-events',
          KEYS: keyFile,
          BODIES: bodyFile,
          FROM: String(Math.floor((Math.random() + index) * (tenants / nodes.length))),
        },
      }),
    ),
  )
  const total = (of: (figures: LoadFigures) => number): number =>
    seen.reduce((sum, figures) => sum + of(figures), 0)
  const requestsPerSecond = total((figures) => figures.requestsPerSecond)
  return {
    requestsPerSecond,
    megabytesPerSecond: total((figures) => figures.megabytesPerSecond),
    p50Ms: total((figures) => figures.p50Ms) / nodes.length,
    p99Ms: Math.max(...seen.map((figures) => figures.p99Ms)),
    errors: total((figures) => figures.errors),
    ...used(requestsPerSecond * options.seconds),
  }
}

/** Requests each tenant's unchanged head once, over `pollingConnections` connections to each node. */
async function pollOnce(place: Place, keyFile: string, tagFile: string): Promise<TenantFigures> {
  const used = usage(place)
  const [node] = place.nodes
  const program = join(import.meta.dirname, '../load/ask-once.ts')
  const args = [program, node?.url ?? '', headTarget, String(pollingConnections), keyFile, tagFile]
  const line = await runPinned(loadCore, process.execPath, args)
  const seen: {
    requests: number
    seconds: number
    bytes: number
    p50Ms: number
    p99Ms: number
    errors: number
  } = JSON.parse(line)
  return {
    requestsPerSecond: seen.requests / seen.seconds,
    megabytesPerSecond: seen.bytes / seen.seconds / 1e6,
    p50Ms: seen.p50Ms,
    p99Ms: seen.p99Ms,
    errors: seen.errors + (seen.requests === tenants ? 0 : 1),
    ...used(seen.requests),
  }
}

/** What nodes and database have used since the call, for this many requests. */
function usage({ nodes, postgres }: Place): (requests: number) => Partial<TenantFigures> {
  const cpuS = (): number => nodes.reduce((sum, { pid }) => sum + usageOf(pid).cpuS, 0)
  const before = cpuS()
  const databaseBefore = postgres?.cpuS() ?? 0
  return (requests) => ({
    cpuMicrosecondsPerRequest: ((cpuS() - before) / requests) * 1e6,
    memoryMiB: Math.max(...nodes.map(({ pid }) => usageOf(pid).memoryMiB)),
    ...(postgres === undefined
      ? {}
      : { databaseCpuMicrosecondsPerRequest: ((postgres.cpuS() - databaseBefore) / requests) * 1e6 }),
  })
}

/** Statements that PostgreSQL has run outside transactions; its sessions report them 10 s late. */
async function queriesOf(url: string): Promise<number> {
  await delay(11_000)
  const [row] = await ask<{ queries: string }>(
    url,
    'SELECT xact_commit AS queries FROM pg_stat_database WHERE datname = current_database()',
  )
  return Number(row?.queries)
}
