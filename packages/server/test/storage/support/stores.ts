/** Every engine under test: how a new store is made, and a copy of one. A further engine is one entry. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { backUpStore, openStorage, storeFileOf } from '../../../src/storage/open-storage.ts'
import { memoryBytes } from '../../../src/storage/memory/engine.ts'
import type { OpenStorageOptions } from '../../../src/storage/open-storage.ts'
import type { SqliteOptions } from '../../../src/storage/sqlite/engine.ts'
import type { StorageEngine } from '../../../src/storage/storage.ts'
import { tenantA, tenantB } from './drafts.ts'

export type StoreOptions = Partial<
  Pick<OpenStorageOptions, 'catalogue' | 'startSequence' | 'clock' | 'overrideClockCheck'>
>

export interface StoreFactory {
  /** A new store in a place of its own, without tenants. */
  create(options?: StoreOptions): Promise<StorageEngine>
  /** A copy of such a store, as operators make one while it is in use: it waits for a new epoch. */
  copy(store: StorageEngine, options?: StoreOptions): Promise<StorageEngine>
  /** Everything that such a copy has, as bytes or as text. */
  bytesOfCopy(store: StorageEngine): Promise<Buffer>
  /** Removes all files it made. */
  clean(): void | Promise<void>
}

function folders(): { readonly make: () => string; readonly clean: () => void } {
  const made: string[] = []
  return {
    make() {
      const folder = mkdtempSync(join(tmpdir(), 'property-events-test-'))
      made.push(folder)
      return folder
    },
    clean() {
      for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function memoryStores(): StoreFactory {
  const copy = (store: StorageEngine, options?: StoreOptions) =>
    openStorage({ kind: 'memory', copyOf: store, create: false, ...options })
  return {
    create: (options) =>
      openStorage({ kind: 'memory', create: true, catalogue: catalogues.default, ...options }),
    copy,
    bytesOfCopy: async (store) => memoryBytes(store),
    clean: () => undefined,
  }
}

/** `writesOn`: the thread that writes; one of its own if left out, as where a service runs. */
export function sqliteStores(writesOn: SqliteOptions['writesOn'] = 'ownThread'): StoreFactory {
  const { make, clean } = folders()
  let newStore: Promise<Buffer> | undefined
  const folderOf = new WeakMap<StorageEngine, string>()
  const open = async (folder: string, options: StoreOptions | undefined, create: boolean) => {
    const catalogue = create ? catalogues.default : undefined
    const store = await openStorage({ kind: 'sqlite', folder, create, catalogue, writesOn, ...options })
    folderOf.set(store, folder)
    return store
  }
  const backUp = async (store: StorageEngine): Promise<string> => {
    const path = join(make(), 'backup.db')
    await backUpStore(folderOf.get(store) ?? '', path)
    return path
  }
  return {
    async create(options) {
      const folder = make()
      const isUsual = options === undefined || !('catalogue' in options || 'startSequence' in options)
      if (isUsual) await layStore(folder, (newStore ??= bytesOfNewStore(make())))
      return open(folder, options, true)
    },
    copy: async (store, options) => open(await backUp(store), options, false),
    bytesOfCopy: async (store) => readFileSync(await backUp(store)),
    clean,
  }
}

/** The file of a store in which nothing is. To make one takes eighteen steps, each with its wait for the disk. */
async function bytesOfNewStore(folder: string): Promise<Buffer> {
  const given = { kind: 'sqlite', folder, create: true, catalogue: catalogues.default } as const
  await (await openStorage(given)).close()
  return readFileSync(storeFileOf(folder))
}

/** Puts a new store into the folder, with an id of its own. */
async function layStore(folder: string, bytes: Promise<Buffer>): Promise<void> {
  const file = join(folder, 'property-events.db')
  writeFileSync(file, await bytes, { mode: 0o600 })
  const db = new Database(file)
  db.prepare(`UPDATE meta SET value = ? WHERE name = 'store_id'`).run(randomUUID())
  db.close()
}

/** Two tenants, A and B. */
export async function withTenants(store: StorageEngine): Promise<StorageEngine> {
  for (const [index, tenantId] of [tenantA, tenantB].entries()) {
    const name = `Agency ${index + 1}`
    await store.keys.createTenant(
      { tenantId, name, createdMs: 1_700_000_000_000 + index, suspended: false },
      'cli:test',
    )
  }
  return store
}
