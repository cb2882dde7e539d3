/** New SQLite stores for tests, in folders in memory that are removed with them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { OpenStorageOptions } from '../../src/store/open-storage.ts'
import type { SqliteOptions } from '../../src/store/sqlite/engine.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { makeFolderInMemory } from './folder-in-memory.ts'

export type StoreOptions = Partial<
  Pick<OpenStorageOptions, 'catalogue' | 'startSequence' | 'clock' | 'overrideClockCheck'>
>

export type NewStoreOptions = StoreOptions & Pick<SqliteOptions, 'writesOn'>

/** Where the folders are: `npm test` gives all its files one, which it removes. */
const root = process.env['PROPERTY_EVENTS_TEST_STORES'] ?? folderOfThisProcess()

/** An empty folder. Who makes it removes it. */
export function makeStoreFolder(): string {
  return mkdtempSync(join(root, 'store-'))
}

/**
 * A store with the default catalogue and without tenants; its folder goes when it is closed. Written on this thread, since a test serves
 * nobody: to start another takes longer than all the rest.
 */
export async function temporaryStore(options: NewStoreOptions = {}): Promise<StorageEngine> {
  const folder = makeStoreFolder()
  const store = await openNewStore(folder, { writesOn: 'thisThread', ...options })
  return afterClosing(store, () => rmSync(folder, { recursive: true, force: true }))
}

/** Opens a new store in an empty folder. */
export function openNewStore(folder: string, options: NewStoreOptions): Promise<StorageEngine> {
  return openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default, ...options })
}

/** The store, and what happens once it is closed. */
export function afterClosing(storage: StorageEngine, then: () => void): StorageEngine {
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= storage.close().then(then))
  return { ...storage, close, [Symbol.asyncDispose]: close }
}

function folderOfThisProcess(): string {
  const folder = makeFolderInMemory()
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
