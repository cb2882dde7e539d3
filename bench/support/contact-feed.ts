/** A service with a large contact feed in its own process, and the load that reads and publishes beside the measurement. */
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { catalogues, scopes } from '@property-events/protocol'
import { createLogger, createService, issueKey, loadPeppers, openStorage } from '@property-events/server'
import type { StorageEngine } from '@property-events/server'
import { median, rounded } from './figures.ts'

const unlimited = { perSecond: 1e9, burst: 1e9 }
/** Without the measured work, before and after it. */
const quietMs = 8_000
const perRequest = 500
const notes = 'Called about the house by the river and wants to see it on Friday. '.repeat(6)

export interface Serving {
  readonly url: string
  readonly keys: Readonly<Record<'read' | 'publish' | 'erase', string>>
}

/** Prints its address and keys as a line. */
export async function serve(
  kind: string,
  place: string,
): Promise<{ storage: StorageEngine; tenantId: string }> {
  const created = { create: true, catalogue: catalogues.default }
  const storage = await openStorage(
    kind === 'sqlite'
      ? { kind, folder: place, ...created }
      : { kind: 'postgres', url: place, readConnections: 4, ...created },
  )
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const [tenantId, nowMs] = [randomUUID(), Date.now()]
  const actor = 'cli:bench'
  await storage.tenants.createTenant({ tenantId, name: 'Bench', createdMs: nowMs, suspended: false }, actor)
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
  return { storage, tenantId }
}

export async function publishAll(
  serving: Serving,
  count: number,
  refOf: (index: number) => string,
): Promise<void> {
  for (let from = 0; from < count; from += perRequest) {
    const events = Array.from({ length: Math.min(perRequest, count - from) }, (_, index) => {
      return { payload: { contact_ref: refOf(from + index), notes: `${from + index} ${notes}` } }
    })
    await post(serving, events)
  }
}

export async function post(
  { url, keys }: Serving,
  events: readonly unknown[],
  path = '/v1/contact-events',
): Promise<void> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': keys.publish, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(text)
}

interface Taken {
  readonly atMs: number
  readonly tookMs: number
}

/** Sends one request after the other until the end. */
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

/** What is read from the feed, and what is published to it. */
export interface BesideFeed {
  readonly listPath: string
  readonly publish: () => Promise<void>
}

/** Random pages, and single events of other subjects, before, during and after the measured work. Default: contacts. */
export async function beside<Done>(
  serving: Serving,
  events: number,
  run: () => Promise<Done>,
  { listPath, publish }: BesideFeed = {
    listPath: '/api/func/api/v1/contactevents/getevents',
    publish: () => post(serving, [{ payload: { contact_ref: randomUUID(), notes } }]),
  },
) {
  const headers = { 'x-api-key': serving.keys.read, 'accept-encoding': 'gzip' }
  const pages = Math.floor(events / 100)
  let isOver = false
  const reading = load(
    () => isOver,
    async () => {
      const path = `${listPath}?page=${randomInt(1, pages)}&pageSize=100`
      await (await fetch(`${serving.url}${path}`, { headers })).arrayBuffer()
    },
  )
  const publishing = load(() => isOver, publish)
  // The first seconds warm up.
  await delay(quietMs / 2)
  const startMs = performance.now()
  await delay(quietMs)
  const begunMs = performance.now()
  const done = await run()
  const doneMs = performance.now()
  await delay(quietMs)
  const endMs = performance.now()
  isOver = true
  const [reads, publications] = [await reading, await publishing]
  const spans = { before: [startMs, begunMs], beside: [begunMs, doneMs], after: [doneMs, endMs] } as const
  const phases = Object.entries(spans).map(([phase, span]) => {
    return [phase, { reading: figuresOf(reads, span), publishing: figuresOf(publications, span) }]
  })
  return { done, seconds: rounded((doneMs - begunMs) / 1_000), ...Object.fromEntries(phases) }
}
