/**
 * What an erasure costs: a consumer with a large copy, in requests and bytes; and those who read and publish beside an erasure of many
 * events. The server (and its database) share a machine with the load. Writes `bench/results/erasing-<engine>-<events>.json`, or with no
 * events to erase, for the copy alone, `erasing-copy-<engine>-<subjects>.json`.
 *
 *     node bench/erasing.ts [sqlite|postgres] [events to erase] [subjects in the copy] [folder of results]
 */
import { spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient, memoryCheckpoint } from '@property-events/client'
import type { Erasure } from '@property-events/client'
import { catalogues, scopes } from '@property-events/protocol'
import { createLogger, createService, issueKey, loadPeppers, openStorage } from '@property-events/server'
import { startPostgres } from './support/postgres.ts'
import { median, rounded } from './support/figures.ts'
import { firstLine } from './support/server.ts'

const here = fileURLToPath(import.meta.url)
const unlimited = { perSecond: 1e9, burst: 1e9 }
/** Without an erasure, before and after it. */
const quietMs = 8_000
const perRequest = 500
const notes = 'Called about the house by the river and wants to see it on Friday. '.repeat(6)

interface Serving {
  readonly url: string
  readonly keys: Readonly<Record<'read' | 'publish' | 'erase', string>>
}

async function serve(kind: string, place: string): Promise<void> {
  const created = { create: true, catalogue: catalogues.default }
  const storage = await openStorage(
    kind === 'sqlite'
      ? { kind, folder: place, ...created }
      : { kind: 'postgres', url: place, readConnections: 4, ...created },
  )
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const [tenantId, nowMs] = [randomUUID(), Date.now()]
  const actor = 'cli:bench'
  await storage.keys.createTenant({ tenantId, name: 'Bench', createdMs: nowMs, suspended: false }, actor)
  const keyWith = async (verb: string): Promise<string> => {
    const grants = [{ tenantId, scopes: scopes.filter((scope) => scope.endsWith(verb)) }]
    const given = { label: '', operator: false, grants, expiresMs: undefined, nowMs, actor } as const
    const issued = await issueKey(storage.keys, pepper, given)
    return issued.kind === 'issued' ? issued.text : ''
  }
  const keys = {
    read: await keyWith('read'),
    publish: await keyWith('publish'),
    erase: await keyWith('erase'),
  }
  const service = await createService({
    host: '127.0.0.1',
    port: 0,
    metrics: undefined,
    storage,
    peppers: [pepper],
    log: createLogger({ level: 'silent' }),
    limits: { requests: unlimited, failures: unlimited },
  })
  process.stdout.write(`${JSON.stringify({ url: service.url, keys } satisfies Serving)}\n`)
}

/** A connection in between, which counts what comes and goes. */
async function countingProxy(target: string) {
  const counts = { requests: 0, bytes: 0 }
  const proxy = createServer((client) => {
    const server = connect(Number(new URL(target).port), '127.0.0.1')
    server.on('data', (chunk) => (counts.bytes += chunk.length))
    client.pipe(server).pipe(client)
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const counted: typeof fetch = (input, init) => {
    counts.requests += 1
    return fetch(input, init)
  }
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    counts,
    counted,
    close: () => proxy.close(),
  }
}

/** Does `run` and says what crossed the wire. */
async function costOf(counts: { requests: number; bytes: number }, run: () => Promise<unknown>) {
  Object.assign(counts, { requests: 0, bytes: 0 })
  const startMs = performance.now()
  await run()
  return { ...counts, seconds: rounded((performance.now() - startMs) / 1_000) }
}

async function publishAll(serving: Serving, count: number, refOf: (index: number) => string): Promise<void> {
  for (let from = 0; from < count; from += perRequest) {
    const events = Array.from({ length: Math.min(perRequest, count - from) }, (_, index) => {
      return { payload: { contact_ref: refOf(from + index), notes: `${from + index} ${notes}` } }
    })
    await post(serving, events)
  }
}

async function post({ url, keys }: Serving, events: readonly unknown[]): Promise<void> {
  const answer = await fetch(`${url}/v1/contact-events`, {
    method: 'POST',
    headers: { 'x-api-key': keys.publish, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(text)
}

async function erase({ url, keys }: Serving, subjectId: string): Promise<Erasure> {
  const client = createClient({ baseUrl: url, key: keys.erase, feed: 'contact' })
  let receipt = await client.erase({ subjectId, reason: 'objection' })
  while (receipt.state !== 'unreachable') {
    await delay(100)
    receipt = (await client.erasure(receipt.id)) ?? receipt
  }
  return receipt
}

/** One erasure of a contact with three versions, seen by a copy of the latest and by one that keeps the history. */
async function costOfCopies(serving: Serving, subjects: number) {
  const refs = Array.from({ length: subjects }, () => randomUUID())
  const [gone = ''] = refs
  await publishAll(serving, subjects, (index) => refs[index] ?? '')
  await publishAll(serving, 2, () => gone)
  const proxy = await countingProxy(serving.url)
  const checkpoint = memoryCheckpoint()
  const held = new Set<string>()
  const client = createClient({
    baseUrl: proxy.url,
    key: serving.keys.read,
    feed: 'contact',
    fetch: proxy.counted,
  })
  const sync = () =>
    client.sync({
      checkpoint,
      apply: ({ changes }) => {
        for (const { kind, subjectId } of changes) {
          if (kind === 'remove') held.delete(subjectId)
          else held.add(subjectId)
        }
      },
    })
  const first = await costOf(proxy.counts, sync)
  const idle = await costOf(proxy.counts, sync)
  const receipt = await erase(serving, gone)
  const latest = await costOf(proxy.counts, sync)
  if (held.size !== subjects - 1 || held.has(gone)) throw new Error('the copy is not what the feed is')
  const history = await costOf(proxy.counts, async () => {
    const ask = async (path: string) =>
      (await (
        await proxy.counted(`${proxy.url}${path}`, { headers: { 'x-api-key': serving.keys.read } })
      ).json()) as {
        readonly items: readonly { readonly sequenceNumbers: readonly number[] }[]
      }
    const { items } = await ask(`/v1/contact-events/reduced?after=${receipt.revision - 1}`)
    for (const number of items.flatMap(({ sequenceNumbers }) => sequenceNumbers)) {
      await ask(`/v1/contact-events?after=${number - 1}&limit=1`)
    }
  })
  proxy.close()
  return { subjects, versions: receipt.events, first, idle, latest, history }
}

interface Taken {
  readonly atMs: number
  readonly tookMs: number
}

/** Asks one after the other until it is over. */
async function load(isOver: () => boolean, ask: () => Promise<void>): Promise<readonly Taken[]> {
  const taken: Taken[] = []
  while (!isOver()) {
    const atMs = performance.now()
    await ask()
    taken.push({ atMs, tookMs: performance.now() - atMs })
  }
  return taken
}

function figuresOf(all: readonly Taken[], [fromMs, toMs]: readonly [number, number]) {
  const within = all.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ tookMs }) => tookMs)
  const sorted = within.toSorted((a, b) => a - b)
  return {
    requestsPerSecond: rounded((within.length * 1_000) / (toMs - fromMs)),
    p50Ms: rounded(median(within)),
    p99Ms: rounded(sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN),
    mostMs: rounded(sorted.at(-1) ?? Number.NaN),
  }
}

/** Pages at random, and single events of other contacts, before, beside and after an erasure. */
async function besideErasure(serving: Serving, events: number) {
  const gone = randomUUID()
  await publishAll(serving, events, () => gone)
  const headers = { 'x-api-key': serving.keys.read, 'accept-encoding': 'gzip' }
  const pages = Math.floor(events / 100)
  let isOver = false
  const reading = load(
    () => isOver,
    async () => {
      const path = `/api/func/api/v1/contactevents/getevents?page=${randomInt(1, pages)}&pageSize=100`
      await (await fetch(`${serving.url}${path}`, { headers })).arrayBuffer()
    },
  )
  const publishing = load(
    () => isOver,
    () => post(serving, [{ payload: { contact_ref: randomUUID(), notes } }]),
  )
  // The first seconds warm up.
  await delay(quietMs / 2)
  const startMs = performance.now()
  await delay(quietMs)
  const begunMs = performance.now()
  const { reduced } = await erase(serving, gone)
  const doneMs = performance.now()
  await delay(quietMs)
  const endMs = performance.now()
  isOver = true
  const [reads, publications] = [await reading, await publishing]
  const spans = { before: [startMs, begunMs], beside: [begunMs, doneMs], after: [doneMs, endMs] } as const
  const phases = Object.entries(spans).map(([phase, span]) => {
    return [phase, { reading: figuresOf(reads, span), publishing: figuresOf(publications, span) }]
  })
  return { reduced, seconds: rounded((doneMs - begunMs) / 1_000), ...Object.fromEntries(phases) }
}

async function measure(kind: string, events: number, subjects: number, folder: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'property-events-erasing-'))
  await using database = kind === 'postgres' ? await startPostgres() : undefined
  const server = spawn(process.execPath, [here, '--serve', kind, database?.url ?? place], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const serving: Serving = JSON.parse(await firstLine(server))
    const copies = await costOfCopies(serving, subjects)
    console.log(JSON.stringify(copies))
    const beside = events === 0 ? undefined : await besideErasure(serving, events)
    if (beside !== undefined) console.log(JSON.stringify(beside))
    const machine = { cores: cpus().length, processor: cpus()[0]?.model ?? '', node: process.version }
    const result = { measuredAt: new Date().toISOString(), engine: kind, machine, copies, beside }
    const name = events === 0 ? `erasing-copy-${kind}-${subjects}` : `erasing-${kind}-${events}`
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, undefined, 2)}\n`)
  } finally {
    server.kill()
    rmSync(place, { recursive: true, force: true })
  }
}

const [first = 'sqlite', second = '100000', third = '100000', folder = join(import.meta.dirname, 'results')] =
  process.argv.slice(2)
if (first === '--serve') await serve(second, third)
else await measure(first, Number(second), Number(third), folder)
