/**
 * What the time of a refusal tells about a key: one client asks a service on SQLite, over one connection and in random order, with a key
 * that works, with wrong secrets of keys that are there, with ids that are not, and with what is no key. Limits on failures are off.
 * Writes `bench/results/key-timing.json`, and prints what SECURITY.md says of it.
 *
 *     node bench/key-timing.ts [requests of each kind] [folder of results]
 */
import { spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { catalogues, newKeyText, parseKeyText } from '../packages/protocol/src/index.ts'
import {
  createLogger,
  createService,
  issueKey,
  loadPeppers,
  openStorage,
} from '../packages/server/src/index.ts'
import { forge } from '../packages/server/test/keys/forge.ts'
import { median } from './support/figures.ts'
import { firstLine } from './support/server.ts'

const here = fileURLToPath(import.meta.url)
const unlimited = { perSecond: 1e9, burst: 1e9 }
/** Used one after the other, so that none is used again within the second for which an answer of the store is kept. */
const keysAtRest = 5_000

interface Serving {
  readonly url: string
  readonly keys: readonly string[]
}

async function serve(folder: string): Promise<void> {
  const storage = await openStorage({
    kind: 'sqlite',
    folder,
    create: true,
    catalogue: catalogues.default,
    startSequence: 0,
  })
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const tenantId = randomUUID()
  const nowMs = Date.now()
  await storage.tenants.createTenant(
    { tenantId, name: 'Timing', createdMs: nowMs, suspended: false },
    'cli:bench',
  )
  const grants = [{ tenantId, scopes: ['property:read'] as const }]
  const keys: string[] = []
  for (let made = 0; made <= keysAtRest; made += 1) {
    const outcome = await issueKey(storage.keys, pepper, {
      label: '',
      actor: 'cli:bench',
      operator: false,
      grants,
      expiresMs: undefined,
      nowMs,
    })
    if (outcome.kind === 'issued') keys.push(outcome.text)
  }
  const service = await createService({
    host: '127.0.0.1',
    port: 0,
    metrics: { host: '127.0.0.1', port: 0 },
    storage,
    peppers: [pepper],
    log: createLogger({ level: 'silent' }),
    limits: { requests: unlimited, failures: unlimited },
  })
  process.stdout.write(`${JSON.stringify({ url: service.url, keys } satisfies Serving)}\n`)
}

/** A kind of key, with a new one for each request. */
interface Kind {
  readonly name: string
  readonly status: number
  readonly next: () => string | undefined
}

function kinds([used = '', ...resting]: readonly string[]): readonly Kind[] {
  const idOf = (key: string) => parseKeyText(key)?.keyId ?? ''
  const unknown = newKeyText().text
  let turn = 0
  const atRest = () => resting[(turn += 1) % resting.length] ?? ''
  const mistyped = (key: string) => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  return [
    { name: 'a key that works', status: 200, next: () => used },
    { name: 'a wrong secret of a key in use', status: 401, next: () => forge(idOf(used)) },
    { name: 'a wrong secret of a key at rest', status: 401, next: () => forge(idOf(atRest())) },
    { name: 'an id that is not there, another each time', status: 401, next: () => newKeyText().text },
    { name: 'an id that is not there, the same each time', status: 401, next: () => unknown },
    { name: 'a wrong checksum', status: 401, next: () => mistyped(newKeyText().text) },
    { name: 'no key', status: 401, next: () => undefined },
  ]
}

/** From the last byte of the request to the last of the answer, in microseconds. */
function timed(url: string, agent: Agent, key: string | undefined, status: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}/v1/heads`,
      { agent, headers: key === undefined ? {} : { 'x-api-key': key } },
      (answer) => {
        answer.resume().on('end', () => {
          const tookUs = (performance.now() - startMs) * 1_000
          if (answer.statusCode === status) resolve(Math.round(tookUs * 10) / 10)
          else reject(new Error(`answered ${answer.statusCode} in place of ${status}`))
        })
      },
    )
    outgoing.on('error', reject)
    const startMs = performance.now()
    outgoing.end()
  })
}

/** In random order, so that other work of the machine affects all kinds alike. */
async function ask(
  url: string,
  all: readonly Kind[],
  requests: number,
): Promise<ReadonlyMap<string, number[]>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const samples = new Map<string, number[]>(all.map(({ name }) => [name, []]))
  const order = all.flatMap((kind) => Array.from({ length: requests }, () => kind))
  for (let index = order.length - 1; index > 0; index -= 1) {
    const other = randomInt(index + 1)
    const [one, two] = [order[index], order[other]]
    if (one !== undefined && two !== undefined) [order[index], order[other]] = [two, one]
  }
  const used = all[0]?.next()
  for (const { name, status, next } of order) {
    // Whatever else is sent, the key in use stays in use.
    await timed(url, agent, used, 200)
    samples.get(name)?.push(await timed(url, agent, next(), status))
  }
  agent.destroy()
  return samples
}

export interface KeyTiming {
  readonly kind: string
  readonly medianUs: number
  /** A tenth and nine tenths of the answers were faster than these. */
  readonly p10Us: number
  readonly p90Us: number
  /** The difference of the medians from the reference, and its interval with a certainty of 95 % (2,000 resamplings). */
  readonly differenceUs: number
  readonly between: readonly [number, number]
}

export const reference = 'an id that is not there, another each time'

function summary(samples: ReadonlyMap<string, readonly number[]>): readonly KeyTiming[] {
  const base = samples.get(reference) ?? []
  return [...samples].map(([kind, values]) => {
    const sorted = values.toSorted((a, b) => a - b)
    const at = (part: number) => tenths(sorted[Math.floor(part * sorted.length)] ?? Number.NaN)
    const resampled = Array.from({ length: 2_000 }, () => median(resample(values)) - median(resample(base)))
    resampled.sort((a, b) => a - b)
    const bound = (part: number) => tenths(resampled[Math.floor(part * resampled.length)] ?? Number.NaN)
    return {
      kind,
      medianUs: tenths(median(values)),
      p10Us: at(0.1),
      p90Us: at(0.9),
      differenceUs: tenths(median(values) - median(base)),
      between: [bound(0.025), bound(0.975)],
    }
  })
}

function resample(values: readonly number[]): readonly number[] {
  return values.map(() => values[Math.floor(Math.random() * values.length)] ?? 0)
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}

async function measure(requests: number, results: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-timing-'))
  const server = spawn(process.execPath, [here, 'serve', folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const { url, keys }: Serving = JSON.parse(await firstLine(server))
    const all = kinds(keys)
    await ask(url, all, Math.ceil(requests / 4))
    const samples = await ask(url, all, requests)
    const timings = summary(samples)
    for (const { kind, medianUs, p10Us, p90Us, differenceUs, between } of timings)
      console.log(`| ${kind} | ${medianUs} | ${p10Us}–${p90Us} | ${differenceUs} (${between.join(' to ')}) |`)
    const machine = { cpu: cpus()[0]?.model ?? '', cores: cpus().length, node: process.version }
    const document = {
      name: 'key-timing',
      takenAt: new Date().toISOString(),
      machine,
      requests,
      reference,
      timings,
    }
    writeFileSync(
      join(results, 'key-timing.json'),
      `${JSON.stringify({ ...document, samples: Object.fromEntries(samples) })}\n`,
    )
  } finally {
    server.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

const [first = '2000', second = join(import.meta.dirname, 'results')] = process.argv.slice(2)
if (first === 'serve') await serve(second)
else await measure(Number(first), second)
