/**
 * How long an event takes to the last of many readers that wait for it, what a waiting reader holds in memory, and what waiting costs at
 * rest; beside Nchan and the server of Durable Streams. Rest begins 25 s after all have connected: until then the service tidies up after
 * that (packages/server/src/runtime/memory/thread-memory.ts). It lasts a minute. The server has core 0, the load core 1. Writes `bench/results/live-<readers>.json`.
 *
 *     node bench/live.ts [readers] [rounds] [folder of results]
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { warmRounds } from './support/live-rounds.ts'
import type { LiveLoad, LiveTimes } from './load/live-readers.ts'
import { startDurableStreams } from './peers/durable-streams.ts'
import { isMissing } from './peers/missing.ts'
import { startNchan } from './peers/nchan.ts'
import { rounded } from './support/figures.ts'
import { countStoreCalls } from './support/live-calls.ts'
import { loadCore, stop } from './support/pinned.ts'
import { publicationBodies } from './support/publications.ts'
import { untilQuiet } from './support/server.ts'
import type { RunningServer } from './support/server.ts'
import { startService } from './support/service.ts'
import { benchFeed, cacheFolder, emptyStore, keysOf } from './support/store.ts'

/** A key may have 20 requests waiting. */
const readersOfKey = 20
const pauseMs = 100
/** Longer than a service is quiet before it collects what connecting has left behind: three looks, 5 s apart. */
const settleSeconds = 25
/** Twice as long as a long-poll waits: each comes back twice in that time, and each stream gets four marks. */
const restSeconds = 60
const callSeconds = 10

type Asks = Pick<LiveLoad, 'readers' | 'continues' | 'publish' | 'body'>

interface LiveResult extends Omit<LiveTimes, 'lastMs'> {
  readonly subject: string
  readonly kind: LiveLoad['kind']
  readonly readers: number
  readonly lastP50Ms: number
  readonly lastMs: number
  /** Of the server, for each reader. */
  readonly kibibytesPerReader: number
  /** Of a core, while all wait and nothing comes. */
  readonly restShare: number
  /** Processor time of the server for each event and reader: steadier than times where the machine has other work. */
  readonly cpuMicrosecondsPerReader: number
}

async function measure(
  subject: string,
  server: RunningServer,
  load: Pick<LiveLoad, 'kind' | 'rounds'> & Asks,
): Promise<LiveResult> {
  await untilQuiet(server)
  const memoryBefore = server.memoryMiB()
  const port = Number(new URL(server.url).port)
  const child = startLoad({ ...load, port, pauseMs })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  try {
    await lines.next()
    await untilQuiet(server)
    const memoryMiB = server.memoryMiB() - memoryBefore
    await delay(settleSeconds * 1_000)
    const cpuBeforeS = server.cpuS()
    await delay(restSeconds * 1_000)
    const restS = server.cpuS()
    const restShare = (restS - cpuBeforeS) / restSeconds
    child.stdin.write('go\n')
    const times: LiveTimes = JSON.parse(String((await lines.next()).value))
    const told = load.readers.length * (load.rounds + warmRounds)
    const cpuMicrosecondsPerReader = ((server.cpuS() - restS) * 1e6) / told
    return resultOf(subject, load, { memoryMiB, restShare, cpuMicrosecondsPerReader }, times)
  } finally {
    await stop(child)
  }
}

/** What it is to do is too long for an argument. */
function startLoad(load: LiveLoad) {
  const program = join(import.meta.dirname, 'load/live-readers.ts')
  const child = spawn('taskset', ['-c', String(loadCore), process.execPath, program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.write(`${JSON.stringify(load)}\n`)
  return child
}

function resultOf(
  subject: string,
  { kind, readers }: Pick<LiveLoad, 'kind' | 'readers'>,
  used: {
    readonly memoryMiB: number
    readonly restShare: number
    readonly cpuMicrosecondsPerReader: number
  },
  { lastMs, p50Ms, p99Ms, missed }: LiveTimes,
): LiveResult {
  const sorted = lastMs.toSorted((one, other) => one - other)
  const result = {
    subject,
    kind,
    readers: readers.length,
    lastP50Ms: rounded(sorted[Math.floor(sorted.length / 2)] ?? 0),
    lastMs: rounded(sorted.at(-1) ?? 0),
    p50Ms: rounded(p50Ms),
    p99Ms: rounded(p99Ms),
    missed,
    kibibytesPerReader: rounded((used.memoryMiB * 1_024) / readers.length),
    restShare: rounded(used.restShare),
    cpuMicrosecondsPerReader: rounded(used.cpuMicrosecondsPerReader),
  }
  process.stderr.write(`${JSON.stringify(result)}\n`)
  return result
}

/** An event of 4.3 kB, as they usually are, with the mark in it. */
function oursWith(keys: readonly string[], readers: number, kind: LiveLoad['kind']): Asks {
  const [event = '{}'] = publicationBodies(4_300, 1)
  const { payload }: { payload: Readonly<Record<string, unknown>> } = JSON.parse(event)
  const path =
    kind === 'stream' ? '/v1/property-events/stream?after=head' : '/v1/property-events?after=0&wait=30'
  return {
    readers: Array.from({ length: readers }, (_, index) => ({
      path,
      headers: { 'x-api-key': keys[Math.floor(index / readersOfKey)] ?? '' },
    })),
    continues: 'ours',
    publish: {
      path: '/v1/property-events',
      headers: { 'x-api-key': keys[0] ?? '', 'content-type': 'application/json' },
    },
    body: JSON.stringify({ payload: { ...payload, service_reference: '{mark}' } }),
  }
}

/** The same bytes, as a message. */
function messageOf(bytes: string): string {
  return bytes.replaceAll('\n', ' ')
}

async function benchOurs(readers: number, rounds: number, scratch: string): Promise<readonly LiveResult[]> {
  const results: LiveResult[] = []
  for (const kind of ['stream', 'wait'] as const) {
    const folder = join(scratch, `ours-${kind}`)
    const place = { kind: 'sqlite', folder } as const
    await (await emptyStore(place, 1)).close()
    const tenants = Array.from({ length: Math.ceil(readers / readersOfKey) }, () => benchFeed.tenantId)
    const keys = await keysOf(place, folder, tenants)
    await using server = await startService(folder)
    results.push(await measure('property-events', server, { kind, rounds, ...oursWith(keys, readers, kind) }))
  }
  return results
}

async function benchPeers(
  readers: number,
  rounds: number,
  scratch: string,
): Promise<readonly (LiveResult | string)[]> {
  const results: (LiveResult | string)[] = []
  const { body } = oursWith([], 0, 'stream')
  for (const kind of ['stream', 'wait'] as const) {
    const all = (path: string, headers: Readonly<Record<string, string>> = {}) =>
      Array.from({ length: readers }, () => ({ path, headers }))
    await using nchan = await startNchan(join(scratch, `nchan-${kind}`))
    if (isMissing(nchan)) results.push(`Nchan: ${nchan.missing}`)
    else {
      const readersOf = kind === 'stream' ? all('/subscribe', { accept: 'text/event-stream' }) : all('/poll')
      const publish = { path: '/publish', headers: { 'content-type': 'application/json' } }
      const asks = { readers: readersOf, continues: 'nchan', publish, body: messageOf(body) } as const
      results.push(await measure('Nchan', nchan, { kind, rounds, ...asks }))
    }
    await using durable = await startDurableStreams(cacheFolder)
    if (isMissing(durable)) results.push(`Durable Streams: ${durable.missing}`)
    else {
      const headers = { 'content-type': 'application/json' }
      const made = await fetch(`${durable.url}/feed`, { method: 'PUT', headers })
      const offset = made.headers.get('stream-next-offset') ?? '-1'
      const path = `/feed?offset=${offset}&live=${kind === 'stream' ? 'sse' : 'long-poll'}`
      const publish = { path: '/feed', headers }
      const asks = { readers: all(path), continues: 'durable', publish, body: messageOf(body) } as const
      results.push(await measure('Durable Streams', durable, { kind, rounds, ...asks }))
    }
  }
  return results
}

const [readers = 1_000, rounds = 40] = process.argv.slice(2, 4).map(Number)
const results = process.argv[4] ?? join(import.meta.dirname, 'results')
const scratch = mkdtempSync(join(tmpdir(), 'property-events-live-'))
try {
  const storeCallsPerSecond = await countStoreCalls(join(scratch, 'calls'), 100, callSeconds)
  process.stderr.write(`${JSON.stringify(storeCallsPerSecond)}\n`)
  const taken = [
    ...(await benchOurs(readers, rounds, scratch)),
    ...(await benchPeers(readers, rounds, scratch)),
  ]
  const machine = { cores: cpus().length, processor: cpus()[0]?.model ?? '', node: process.version }
  const measuredAt = new Date().toISOString()
  const document = { measuredAt, machine, rounds, storeCallsPerSecond, results: taken }
  mkdirSync(results, { recursive: true })
  writeFileSync(join(results, `live-${readers}.json`), `${JSON.stringify(document, undefined, 2)}\n`)
  console.log(JSON.stringify(document, undefined, 2))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
