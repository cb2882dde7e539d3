/** Every engine under test: how a new store is made and how a backup of one is opened. A further engine is one entry. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../../src/storage/open-storage.ts'
import type { OpenStorageOptions } from '../../../src/storage/open-storage.ts'
import type { StorageEngine } from '../../../src/storage/storage.ts'
import { tenantA, tenantB } from './drafts.ts'

export type StoreOptions = Partial<
  Pick<OpenStorageOptions, 'catalogue' | 'startSequence' | 'clock' | 'overrideClockCheck'>
>

export interface StoreFactory {
  /** A new store in a place of its own, without tenants. */
  create(options?: StoreOptions): Promise<StorageEngine>
  /** A path where `backup` may write. */
  backupPath(): string
  openBackup(path: string, options?: StoreOptions): Promise<StorageEngine>
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
  const { make, clean } = folders()
  return {
    create: (options) =>
      openStorage({ kind: 'memory', create: true, catalogue: catalogues.default, ...options }),
    backupPath: () => join(make(), 'backup'),
    openBackup: (file, options) => openStorage({ kind: 'memory', file, create: false, ...options }),
    clean,
  }
}

export function sqliteStores(): StoreFactory {
  const { make, clean } = folders()
  return {
    create: (options) =>
      openStorage({
        kind: 'sqlite',
        folder: make(),
        create: true,
        catalogue: catalogues.default,
        ...options,
      }),
    backupPath: () => join(make(), 'backup.db'),
    openBackup: (folder, options) => openStorage({ kind: 'sqlite', folder, create: false, ...options }),
    clean,
  }
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
