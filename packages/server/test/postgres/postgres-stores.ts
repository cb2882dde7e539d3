import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { StorageEngine } from '../../src/storage/storage.ts'
import type { StoreFactory, StoreOptions } from '../storage/support/stores.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

/** PostgreSQL as an engine under test. The server is started when the first store is made. `binFolder`: as in `testDatabases`. */
export function postgresStores(binFolder?: string): StoreFactory {
  let started: Promise<TestDatabases> | undefined
  const folders: string[] = []
  const databases = (): Promise<TestDatabases> => (started ??= testDatabases(binFolder))
  const open = (url: string, options: StoreOptions | undefined): Promise<StorageEngine> => {
    const given = { kind: 'postgres', url, readConnections: 4, create: true } as const
    return openStorage({ ...given, catalogue: catalogues.default, ...options })
  }
  return {
    async create(options) {
      // What a store is made with is in its schema for good.
      if (options !== undefined && ('catalogue' in options || 'startSequence' in options)) {
        return open(await (await databases()).create(), options)
      }
      const schema = await (await databases()).recycled()
      return givenBack(await open(schema.url, options), () => schema.giveBack())
    },
    backupPath() {
      const folder = mkdtempSync(join(tmpdir(), 'property-events-test-'))
      folders.push(folder)
      return join(folder, 'backup')
    },
    async openBackup(file, options) {
      const url = await (await databases()).create()
      return openStorage({ kind: 'postgres', url, file, create: false, ...options })
    },
    async clean() {
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
      await (await started)?.[Symbol.asyncDispose]()
    },
  }
}

/** The store, and what happens once it is closed. */
function givenBack(storage: StorageEngine, giveBack: () => void): StorageEngine {
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= storage.close().then(giveBack))
  return { ...storage, close, [Symbol.asyncDispose]: close }
}
