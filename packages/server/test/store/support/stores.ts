/** Every engine under test: how a new store is made, and a copy of one. A further engine is one entry. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { backUpStore, openStorage } from '../../../src/store/open-storage.ts'
import type { SqliteOptions } from '../../../src/store/sqlite/engine.ts'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { makeStoreFolder, openNewStore } from '../../support/temporary-store.ts'
import type { StoreOptions } from '../../support/temporary-store.ts'
import { tenantA, tenantB } from './drafts.ts'

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

/** `writesOn`: the thread that writes; one of its own if left out, as where a service runs. */
export function sqliteStores(writesOn: SqliteOptions['writesOn'] = 'ownThread'): StoreFactory {
  const made: string[] = []
  const folderOf = new WeakMap<StorageEngine, string>()
  const make = (): string => {
    const folder = makeStoreFolder()
    made.push(folder)
    return folder
  }
  const kept = (store: StorageEngine, folder: string): StorageEngine => {
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
      return kept(await openNewStore(folder, { writesOn, ...options }), folder)
    },
    async copy(store, options) {
      const folder = await backUp(store)
      return kept(await openStorage({ kind: 'sqlite', folder, create: false, writesOn, ...options }), folder)
    },
    bytesOfCopy: async (store) => readFileSync(await backUp(store)),
    clean() {
      for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Two tenants, A and B. */
export async function withTenants(store: StorageEngine): Promise<StorageEngine> {
  for (const [index, tenantId] of [tenantA, tenantB].entries()) {
    const name = `Agency ${index + 1}`
    await store.tenants.createTenant(
      { tenantId, name, createdMs: 1_700_000_000_000 + index, suspended: false },
      'cli:test',
    )
  }
  return store
}
