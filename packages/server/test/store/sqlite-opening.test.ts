/** Opening a data folder: what is refused, what is made, and what other processes may do meanwhile. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { inspectStore, openStorage } from '../../src/store/open-storage.ts'
import type { OpenStorageOptions } from '../../src/store/open-storage.ts'
import { migrate } from '../../src/store/sqlite/migrate.ts'
import type { StorageRefusal } from '../../src/sql/storage-errors.ts'
import { describeSqlite } from './support/describe-schema.ts'
import { draft, tenantA } from './support/drafts.ts'
import { laterSteps } from './support/later-steps.ts'
import { headOf, publish } from './support/read-back.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const catalogue = catalogues.default

function open(
  folder: string,
  options: Partial<Pick<OpenStorageOptions, 'create' | 'catalogue' | 'startSequence'>> = {},
) {
  return openStorage({ kind: 'sqlite', folder, create: true, catalogue, ...options })
}

async function refused(
  opening: Promise<AsyncDisposable>,
  code: StorageRefusal['code'],
  sentence: RegExp,
): Promise<void> {
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof Error && 'code' in error)
    assert.deepEqual([error.name, error.code], ['StorageRefusal', code])
    assert.match(error.message, sentence)
    return true
  })
}

describe('opening a data folder', () => {
  it('makes folder and file for their owner alone', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'new', 'data')
    await using store = await withTenants(await open(path))
    await publish(store, [draft({ subject: 'p' })])
    assert.equal(statSync(path).mode & 0o777, 0o700)
    for (const name of ['property-events.db', 'property-events.db-wal', 'property-events.db-shm']) {
      assert.equal(statSync(join(path, name)).mode & 0o777, 0o600, name)
    }
  })

  it('leaves one file without a log behind when closed', async () => {
    using folder = temporaryFolder()
    const store = await withTenants(await open(folder.path))
    await publish(store, [draft({ subject: 'p' })])
    await store.close()
    assert.equal(statSync(join(folder.path, 'property-events.db-wal'), { throwIfNoEntry: false }), undefined)
    await using again = await open(folder.path, { create: false })
    assert.equal((await headOf(again)).position, 1)
  })

  it('refuses a folder without a store unless asked to create one, and creates nothing', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'missing')
    await refused(open(path, { create: false }), 'not_a_store', /no Property Events store in .*missing/)
    assert.equal(statSync(path, { throwIfNoEntry: false }), undefined)
  })

  it('refuses a file of something else, and does not touch it', async () => {
    using folder = temporaryFolder()
    const text = join(folder.path, 'text.db')
    writeFileSync(
      text,
      'not a database at all, but rather long so that a header would fit into it'.repeat(20),
    )
    const foreign = join(folder.path, 'foreign.db')
    const db = new Database(foreign)
    db.exec('CREATE TABLE theirs (x); PRAGMA user_version = 1')
    db.close()
    for (const file of [text, foreign]) {
      const before = statSync(file)
      await refused(open(file), 'not_a_store', /no Property Events store/)
      assert.deepEqual([statSync(file).size, statSync(file).mtimeMs], [before.size, before.mtimeMs])
    }
  })

  it('refuses an emptied store beside its key pepper, and leaves it unchanged', async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'property-events.db')
    writeFileSync(file, '')
    await (await open(folder.path)).close()
    assert.ok(statSync(file).size > 0, 'an empty file alone is a store that was never made')
    truncateSync(file)
    writeFileSync(join(folder.path, 'pepper'), 'a'.repeat(64))
    await refused(open(folder.path), 'not_a_store', /is empty \(0 bytes\).*restore the last backup/)
    assert.equal(statSync(file).size, 0)
  })

  it('refuses a store of a newer program, and says what to do', async () => {
    using folder = temporaryFolder()
    await (await open(folder.path)).close()
    const db = new Database(join(folder.path, 'property-events.db'))
    db.pragma('user_version = 99')
    db.close()
    await refused(open(folder.path), 'newer_schema', /schema 99.*up to \d+.*newer program/)
  })

  it('refuses a store from before 0.1.0, now and after any later step, and says what to do', async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'property-events.db')
    const db = new Database(file)
    // As the program of before made it.
    db.exec(`CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      PRAGMA application_id = 0x50455654; PRAGMA user_version = 34`)
    const before = readFileSync(file)
    const sentence =
      /property-events\.db was made before 0\.1\.0; begin a new one\. Name an empty data folder/
    for (const create of [true, false]) await refused(open(folder.path, { create }), 'made_before', sentence)
    await assert.rejects(migrate(db, undefined, laterSteps), { code: 'made_before', message: sentence })
    db.close()
    assert.deepEqual(readFileSync(file), before, 'left unchanged')
    assert.deepEqual(inspectStore(folder.path), { kind: 'madeBefore', file })
  })

  it('makes the schema that is committed as text', async () => {
    using folder = temporaryFolder()
    await (await open(folder.path)).close()
    const db = new Database(join(folder.path, 'property-events.db'), { readonly: true })
    const made = describeSqlite(db)
    db.close()
    const expected = readFileSync(new URL('schema.sqlite.txt', import.meta.url), 'utf8')
    assert.equal(made, expected, 'run `npm run schema` and look at what changes')
  })

  it('refuses other event types and another start sequence, and accepts the recorded ones (D12, D13)', async () => {
    using folder = temporaryFolder()
    await (await open(folder.path, { startSequence: 5 })).close()
    await refused(
      open(folder.path, { catalogue: catalogues['published-0'] }),
      'other_catalogue',
      /other event types/,
    )
    await refused(
      open(folder.path, { startSequence: 6 }),
      'other_start_sequence',
      /sequence 5, and 6 is asked/,
    )
    await using store = await open(folder.path, { catalogue: undefined })
    const { storeId } = store.settings
    assert.deepEqual(store.settings, { storeId, catalogue, startSequence: 5 })
  })

  it('accepts the same event types in another order (D12)', async () => {
    using folder = temporaryFolder()
    await (await open(folder.path)).close()
    const { property, contact } = catalogue
    const turned = Object.fromEntries(Object.entries(property).toReversed())
    await (await open(folder.path, { catalogue: { contact, property: turned } })).close()
  })

  it('makes one store, however many processes begin at the same time', async () => {
    using folder = temporaryFolder()
    const program = fileURLToPath(new URL('./support/open-and-publish.ts', import.meta.url))
    const run = promisify(execFile)
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(names.map((name) => run(process.execPath, [program, folder.path, name])))
    await using store = await open(folder.path, { create: false })
    assert.equal((await store.tenants.tenants()).length, 1)
    assert.equal((await headOf(store)).position, names.length)
  })

  it('shows what another process has changed: tenants, keys, events (D11)', async () => {
    using folder = temporaryFolder()
    await using server = await open(folder.path)
    await using command = await open(folder.path, { create: false })
    await command.tenants.createTenant(
      { tenantId: tenantA, name: 'A', createdMs: 1, suspended: false },
      'cli:test',
    )
    assert.equal((await server.tenants.tenants()).length, 1)
    await publish(server, [draft({ subject: 'p' })])
    assert.equal((await headOf(command)).position, 1)
  })

  it('lets a command end and the service publish while somebody reads one state for long, as a backup does (P7)', async () => {
    using folder = temporaryFolder()
    await using server = await withTenants(await open(folder.path))
    await using command = await open(folder.path, { create: false })
    const reader = new Database(join(folder.path, 'property-events.db'), { readonly: true })
    reader.exec('BEGIN; SELECT * FROM meta')
    try {
      await publish(server, [draft({ subject: 'p' })])
      const ended = Promise.all([command.close(), publish(server, [draft({ subject: 'q' })])])
      // Less than SQLite waits for readers where it is told to (10 s).
      const late = delay(8_000, 'late', { ref: false })
      assert.notEqual(await Promise.race([ended, late]), 'late')
    } finally {
      reader.close()
    }
    await server.close()
    assert.deepEqual(readdirSync(folder.path), ['property-events.db'])
  })
})
