/**
 * What an erasure costs: a consumer with a large copy, in requests and bytes; and those who read and publish beside an erasure of many
 * events. The server (and its database) share a machine with the load. Writes `bench/results/erasing-<engine>-<events>.json`, or with no
 * events to erase, for the copy alone, `erasing-copy-<engine>-<subjects>.json`.
 *
 *     node bench/erasing.ts [sqlite|postgres] [events to erase] [subjects in the copy] [folder of results]
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient, memoryCheckpoint } from '@property-events/client'
import type { Erasure } from '@property-events/client'
import { startPostgres } from './support/postgres.ts'
import { beside, publishAll, serve } from './support/contact-feed.ts'
import type { Serving } from './support/contact-feed.ts'
import { rounded } from './support/figures.ts'
import { firstLine } from './support/server.ts'

const here = fileURLToPath(import.meta.url)
/** A connection in between, which counts the bytes in both directions. */
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

/** Runs `run` and returns what crossed the wire. */
async function costOf(counts: { requests: number; bytes: number }, run: () => Promise<unknown>) {
  Object.assign(counts, { requests: 0, bytes: 0 })
  const startMs = performance.now()
  await run()
  return { ...counts, seconds: rounded((performance.now() - startMs) / 1_000) }
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

async function besideErasure(serving: Serving, events: number) {
  const gone = randomUUID()
  await publishAll(serving, events, () => gone)
  const { done, ...phases } = await beside(serving, events, () => erase(serving, gone))
  return { reduced: done.reduced, ...phases }
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
