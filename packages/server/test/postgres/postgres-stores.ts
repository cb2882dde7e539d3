import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { StoreFactory } from '../storage/support/stores.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

/** PostgreSQL as an engine under test. The server is started when the first store is made. `binFolder`: as in `testDatabases`. */
export function postgresStores(binFolder?: string): StoreFactory {
  let databases: Promise<TestDatabases> | undefined
  const folders: string[] = []
  const create = async (): Promise<string> => {
    databases ??= testDatabases(binFolder)
    return (await databases).create()
  }
  return {
    async create(options) {
      const url = await create()
      const given = { kind: 'postgres', url, readConnections: 4, create: true } as const
      return openStorage({ ...given, catalogue: catalogues.default, ...options })
    },
    backupPath() {
      const folder = mkdtempSync(join(tmpdir(), 'property-events-test-'))
      folders.push(folder)
      return join(folder, 'backup')
    },
    async openBackup(file, options) {
      return openStorage({ kind: 'postgres', url: await create(), file, create: false, ...options })
    },
    async clean() {
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
      await (await databases)?.[Symbol.asyncDispose]()
    },
  }
}
