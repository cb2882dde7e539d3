/** Stores filled by the generator, made once and kept in `bench/.cache`. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogues, scopes } from '@property-events/protocol'
import Database from 'better-sqlite3'
import { issueKey, loadPeppers } from '../../packages/server/src/keys/index.ts'
import { openStorage } from '../../packages/server/src/store/open-storage.ts'
import { recordImporter } from '../../packages/server/src/store/sqlite/copy/import-records.ts'
import type { FeedKey } from '../../packages/server/src/events/feed-key.ts'
import type { StorageEngine } from '../../packages/server/src/store/storage.ts'
import type { StoreRecord } from '../../packages/server/src/store/store-records.ts'
import { rowsOf } from './rows.ts'

export const cacheFolder = join(import.meta.dirname, '../.cache')

export interface FilledStore {
  readonly folder: string
  readonly events: number
  readonly tenantIds: readonly string[]
}

/** Where a store is, for `openStorage` and for the service's command line. */
export type StorePlace =
  | { readonly kind: 'sqlite'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function tenantIdOf(index: number): string {
  return `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}

/** The feed that single-tenant jobs read. */
export const benchFeed: FeedKey = { tenantId: tenantIdOf(0), feed: 'property' }

/** The seed of every filled store: their first events are the same, whatever their size. */
export const storeSeed = 'bench'

/** One tenant with `events` property events of `averageBytes` each, in the cache. */
export async function filledStore(events: number, averageBytes: number): Promise<FilledStore> {
  const folder = join(cacheFolder, `store-${events}-${averageBytes}`)
  if (!existsSync(join(folder, 'complete'))) {
    const unfinished = `${folder}-unfinished-${process.pid}`
    await (await emptyStore({ kind: 'sqlite', folder: unfinished }, 1)).close()
    fillFile(join(unfinished, 'property-events.db'), events, averageBytes)
    writeFileSync(join(unfinished, 'complete'), '')
    rmSync(folder, { recursive: true, force: true })
    renameSync(unfinished, folder)
  }
  return { folder, events, tenantIds: [benchFeed.tenantId] }
}

/** A new store with tenants and no events. */
export async function emptyStore(place: StorePlace, tenants: number): Promise<StorageEngine> {
  if (place.kind === 'sqlite') mkdirSync(place.folder, { recursive: true })
  const storage = await openStorage({
    ...place,
    create: true,
    catalogue: catalogues.default,
    startSequence: 0,
  })
  for (let index = 0; index < tenants; index += 1) {
    await storage.tenants.createTenant(
      {
        tenantId: tenantIdOf(index),
        name: `Agency ${index}`,
        createdMs: Date.now(),
        suspended: false,
      },
      'cli:bench',
    )
  }
  return storage
}

/** The same events as in a filled store of that size, written into another store through the port. */
export async function fillStorage(
  storage: StorageEngine,
  events: number,
  averageBytes: number,
): Promise<void> {
  let earlier: Promise<void> = Promise.resolve()
  for (const records of pieces(events, averageBytes, 500)) {
    await earlier
    earlier = storage.importRecords(records, 'cli:bench')
  }
  await earlier
}

/** With the store's own importer in this process, without a flush: nobody needs what a power cut would lose here. */
function fillFile(file: string, events: number, averageBytes: number): void {
  const database = new Database(file)
  database.pragma('synchronous = OFF')
  database.pragma('cache_size = -2000000')
  const put = recordImporter(database, () => undefined)
  for (const records of pieces(events, averageBytes, 20_000)) put(records, 'cli:bench')
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

/** Events, ids and subjects one kind after the other, the order that engines handle best. */
function* pieces(events: number, averageBytes: number, size: number): Generator<readonly StoreRecord[]> {
  let rows = []
  let written = 0
  for (const row of rowsOf({ key: benchFeed, events, averageBytes, seed: storeSeed })) {
    rows.push(row)
    written += 1
    if (rows.length < size && written < events) continue
    // A subject that occurs twice in a piece is written once, in its last state.
    const subjects = new Map(rows.map(({ subject }) => [subject.subjectId, subject]))
    yield [...rows.map(({ event }) => event), ...rows.map(({ id }) => id), ...subjects.values()]
    rows = []
    if (written % 100_000 === 0) process.stderr.write(`  ${written} of ${events} events\n`)
  }
}

/** A key for each tenant that can read and publish everything of it. The pepper is in `folder`. */
export async function keysOf(
  place: StorePlace,
  folder: string,
  tenantIds: readonly string[],
): Promise<readonly string[]> {
  await using storage = await openStorage({ ...place, create: false })
  const [pepper] = loadPeppers({ folder, given: undefined })
  const texts: string[] = []
  for (const tenantId of tenantIds) {
    const issued = await issueKey(storage.keys, pepper, {
      label: 'bench',
      operator: false,
      grants: [{ tenantId, scopes: [...scopes] }],
      expiresMs: undefined,
      nowMs: Date.now(),
      actor: 'cli:bench',
    })
    if (issued.kind !== 'issued') throw new Error(`no key for ${tenantId}`)
    texts.push(issued.text)
  }
  return texts
}
