/** A store that is written on the thread that opened it, as most commands of the program do. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import Database from 'better-sqlite3'
import { openStorage, storeFileOf } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { batch, draft, tenantA } from './support/drafts.ts'
import { list, numbers } from './support/read-back.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

function open(folder: string, writesOn: 'ownThread' | 'thisThread'): Promise<StorageEngine> {
  return openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default, writesOn })
}

describe('a store that is written on the thread that opened it', () => {
  it('keeps what was acknowledged, and shows it at once to others that have the store open (P7, P8)', async () => {
    using folder = temporaryFolder()
    await using beside = await withTenants(await open(folder.path, 'ownThread'))
    {
      await using store = await open(folder.path, 'thisThread')
      await store.events.append([batch([draft({ subject: 'a' }), draft({ subject: 'b' })])])
      assert.deepEqual(numbers(await list(beside)), [1, 2])
      await beside.events.append([batch([draft({ subject: 'c' })])])
      assert.deepEqual(numbers(await list(store)), [1, 2, 3])
    }
    await beside.events.append([batch([draft({ subject: 'd' })])])
    assert.deepEqual(numbers(await list(beside)), [1, 2, 3, 4])
  })

  it('leaves no log beside the file when it is closed', async () => {
    using folder = temporaryFolder()
    const store = await withTenants(await open(folder.path, 'thisThread'))
    await store.close()
    assert.ok(!existsSync(join(folder.path, 'property-events.db-wal')))
  })

  it('reports what it cannot write, and continues reading and writing afterwards', async () => {
    using folder = temporaryFolder()
    await using store = await withTenants(await open(folder.path, 'thisThread'))
    const db = new Database(storeFileOf(folder.path))
    db.exec(`CREATE TRIGGER refused BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'refused'); END`)
    await assert.rejects(store.events.append([batch([draft({ subject: 'a' })])]), {
      name: 'StorageFailure',
      code: 'storage_unavailable',
    })
    db.exec('DROP TRIGGER refused')
    db.close()
    await store.events.append([batch([draft({ subject: 'a' })])])
    assert.deepEqual(numbers(await list(store)), [1])
    assert.equal(
      (await store.tenants.tenants()).some(({ tenantId }) => tenantId === tenantA),
      true,
    )
  })
})
