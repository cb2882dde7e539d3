/**
 * What it takes to bring in 10,000 tenants with two keys each over HTTP, into a store with a million events, and to list them then. The service (and
 * its database) share a machine with the client. Writes `bench/results/importing-<engine>.json`.
 *
 *     node bench/importing.ts [sqlite|postgres] [events] [folder of results]
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { adminScopes } from '../packages/protocol/src/index.ts'
import {
  createLogger,
  createService,
  issueKey,
  loadPeppers,
  openStorage,
} from '../packages/server/src/index.ts'
import { median } from './support/figures.ts'
import { startPostgres } from './support/postgres.ts'
import { firstLine } from './support/server.ts'
import { emptyStore, filledStore, fillStorage } from './support/store.ts'
import type { StorePlace } from './support/store.ts'

const here = fileURLToPath(import.meta.url)
const tenants = 10_000
const unlimited = { perSecond: 1e9, burst: 1e9 }
const averageBytes = 500

interface Serving {
  readonly url: string
  readonly key: string
}

async function serve(place: StorePlace): Promise<void> {
  const storage = await openStorage({ ...place, create: false })
  const [pepper] = loadPeppers({ folder: undefined, given: undefined })
  const request = { label: 'bench', operator: true, grants: [], adminScopes, expiresMs: undefined }
  const issued = await issueKey(storage.keys, pepper, { ...request, nowMs: Date.now(), actor: 'cli:bench' })
  if (issued.kind !== 'issued') throw new Error('no key')
  const { url } = await createService({
    storage,
    peppers: [pepper],
    log: createLogger({ level: 'warn' }),
    host: '127.0.0.1',
    port: 0,
    metrics: undefined,
    limits: { requests: unlimited, failures: unlimited },
  })
  console.log(JSON.stringify({ url, key: issued.text } satisfies Serving))
}

async function measure(kind: string, events: number, folder: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'property-events-importing-'))
  await using database = kind === 'postgres' ? await startPostgres() : undefined
  const place: StorePlace =
    database === undefined ? { kind: 'sqlite', folder: scratch } : { kind: 'postgres', url: database.url }
  if (place.kind === 'sqlite') {
    const filled = await filledStore(events, averageBytes)
    cpSync(join(filled.folder, 'property-events.db'), join(scratch, 'property-events.db'))
  } else {
    await using filling = await emptyStore(place, 1)
    await fillStorage(filling, events, averageBytes)
  }
  const server = spawn(process.execPath, [here, '--serve', JSON.stringify(place)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const serving: Serving = JSON.parse(await firstLine(server))
    const first = await bringIn(serving)
    if (first.created !== tenants) throw new Error(`${first.created} tenants were made`)
    const again = await bringIn(serving)
    if (again.created !== 0) throw new Error('the same file again made tenants')
    const machine = { cores: cpus().length, processor: cpus()[0]?.model ?? '', node: process.version }
    const lists = await timeLists(serving)
    const result = {
      measuredAt: new Date().toISOString(),
      engine: kind,
      machine,
      events,
      first,
      again,
      lists,
    }
    console.log(JSON.stringify(result))
    writeFileSync(join(folder, `importing-${kind}.json`), `${JSON.stringify(result, undefined, 2)}\n`)
  } finally {
    server.kill()
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function bringIn({ url, key }: Serving) {
  const lines = Array.from({ length: tenants }, (_, nth) =>
    JSON.stringify({
      reference: `crm-${nth}`,
      name: `Agency number ${nth}`,
      keys: [
        { label: 'Website', scopes: ['property:read'] },
        { label: 'CRM', scopes: ['property:publish', 'contact:publish'] },
      ],
    }),
  )
  const startMs = performance.now()
  const answer = await fetch(`${url}/v1/admin/tenants/import`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    body: lines.join('\n'),
  })
  const told = (await answer.json()) as {
    readonly created: number
    readonly items: readonly { keys: readonly unknown[] }[]
  }
  if (!answer.ok) throw new Error(JSON.stringify(told).slice(0, 500))
  const keys = told.items.reduce((sum, item) => sum + item.keys.length, 0)
  return { seconds: rounded((performance.now() - startMs) / 1_000), created: told.created, keys }
}

/** Milliseconds for a page of 200 in each list: the median of all pages. */
async function timeLists({ url, key }: Serving): Promise<Readonly<Record<string, object>>> {
  const timed: Record<string, object> = {}
  for (const path of ['/tenants', '/keys', '/audit', '/deletions']) {
    const times: number[] = []
    let items = 0
    for (let next: string | null = ''; next !== null;) {
      const startMs = performance.now()
      const after: string = next === '' ? '' : `&after=${next}`
      const answer = await fetch(`${url}/v1/admin${path}?limit=200${after}`, {
        headers: { 'x-api-key': key },
      })
      const page = (await answer.json()) as {
        readonly items: readonly unknown[]
        readonly next: string | null
      }
      times.push(performance.now() - startMs)
      items += page.items.length
      next = page.next
    }
    timed[path] = {
      items,
      pages: times.length,
      medianMs: rounded(median(times)),
      longestMs: rounded(Math.max(...times)),
    }
  }
  return timed
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

const [first = 'sqlite', second = '1000000', results = join(import.meta.dirname, 'results')] =
  process.argv.slice(2)
if (first === '--serve') await serve(JSON.parse(second) as StorePlace)
else await measure(first, Number(second), results)
