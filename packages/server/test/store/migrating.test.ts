/** A step to a later schema of a store's file: with contents, by many at once, and made as a whole or not at all. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { connectForWriting, makeStoreFile } from '../../src/sql/sqlite/connection.ts'
import { recordSettings } from '../../src/store/sqlite/meta.ts'
import { migrate } from '../../src/store/sqlite/migrate.ts'
import { describeSqlite } from './support/describe-schema.ts'
import { draft } from './support/drafts.ts'
import { laterSteps } from './support/later-steps.ts'
import { publish } from './support/read-back.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('a step to a later schema of a file', () => {
  const open = (folder: string): Promise<StorageEngine> =>
    openStorage({ kind: 'sqlite', folder, create: true, catalogue: catalogues.default })

  /** A closed store of this version, with two properties. */
  async function fill(folder: string): Promise<string> {
    await using store = await withTenants(await open(folder))
    await publish(store, [
      draft({ subject: 'a', text: 'Tŷ ar werth – £250,000 🏡' }),
      draft({ subject: 'b' }),
    ])
    return join(folder, 'property-events.db')
  }

  async function bringUpToDate(file: string): Promise<void> {
    const db = connectForWriting({ file })
    try {
      await migrate(db, undefined, laterSteps)
    } finally {
      db.close()
    }
  }

  function read<T>(file: string, run: (db: Database.Database) => T): T {
    const db = new Database(file, { readonly: true })
    try {
      return run(db)
    } finally {
      db.close()
    }
  }

  const contents = (file: string): unknown => read(file, (db) => db.prepare('SELECT * FROM event').all())
  const schemaOf = (file: string): unknown => read(file, describeSqlite)

  it('is made with the contents that are there, and the program of before refuses the store then', async () => {
    using folder = temporaryFolder()
    const file = await fill(folder.path)
    const before = contents(file)
    await bringUpToDate(file)
    assert.deepEqual(contents(file), before)
    const noticed = 'SELECT noticed FROM subject ORDER BY noticed'
    assert.deepEqual(
      read(file, (db) => db.prepare(noticed).pluck().all()),
      [1, 2],
    )
    await assert.rejects(open(folder.path), { name: 'StorageRefusal', code: 'newer_schema' })
  })

  it('leads to the same schema whether it is made with the store or later', async () => {
    using folder = temporaryFolder()
    const later = await fill(join(folder.path, 'later'))
    await bringUpToDate(later)
    const atOnce = join(folder.path, 'at-once', 'property-events.db')
    makeStoreFile(atOnce)
    const db = connectForWriting({ file: atOnce })
    await migrate(
      db,
      () => recordSettings(db, { catalogue: catalogues.default, startSequence: 0 }),
      laterSteps,
    )
    db.close()
    assert.match(String(schemaOf(atOnce)), /noticed INTEGER/)
    assert.equal(schemaOf(later), schemaOf(atOnce))
  })

  it('leaves the store as it was where it fails, and the next start makes it', async () => {
    using folder = temporaryFolder()
    const file = await fill(folder.path)
    const before = [schemaOf(file), contents(file)]
    const db = new Database(file)
    // In the last statement but one of the step.
    db.exec('CREATE TABLE notice (other INTEGER)')
    await assert.rejects(bringUpToDate(file), /notice already exists/)
    db.exec('DROP TABLE notice')
    db.close()
    assert.deepEqual([schemaOf(file), contents(file)], before)
    await using store = await open(folder.path)
    await publish(store, [draft({ subject: 'c' })])
    await store.close()
    await bringUpToDate(file)
    assert.deepEqual(
      read(file, (now) => now.pragma('user_version', { simple: true })),
      laterSteps.length,
    )
  })

  it('is made once when twenty start at the same time', async () => {
    using folder = temporaryFolder()
    const file = await fill(folder.path)
    const program = new URL('./support/bring-up-to-date.ts', import.meta.url)
    const threads = Array.from({ length: 20 }, () => new Worker(program, { workerData: file }))
    for (const [code] of await Promise.all(threads.map((thread) => once(thread, 'exit')))) {
      assert.equal(code, 0)
    }
    assert.equal(
      read(file, (db) => db.prepare('SELECT count(*) FROM notice').pluck().get()),
      2,
      'one for each tenant',
    )
  })
})
