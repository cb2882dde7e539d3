/** Once a receipt says `overwritten`, no file holds what was erased (D17): a search for its bytes. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { compactStore } from '../../src/index.ts'
import { launchPostgres } from '../postgres/launch-postgres.ts'
import type { LaunchedPostgres } from '../postgres/launch-postgres.ts'
import {
  addressesOf,
  canary,
  changeCanary,
  eraseAll,
  publishCanary,
  readAll,
  receiptOf,
} from '../support/canary.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

/** Names of the files below a folder that hold the canary, but those below `pg_wal`. */
async function filesWithCanary(folder: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path)
    if (!entry.isFile() || name.startsWith('pg_wal')) continue
    // Gone meanwhile: a server removes what it needs no more.
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    if (bytes.includes(canary)) found.push(name)
  }
  return found
}

/** Published, changed, withdrawn, read so that pages are ready-made, and erased. */
async function eraseCanary(service: TestService): Promise<readonly string[]> {
  const erased = await publishCanary(service)
  await changeCanary(service, erased)
  for (let round = 0; round < 2; round += 1) await readAll(service, addressesOf(erased))
  return (await eraseAll(service, erased)).map(({ id }) => id)
}

async function assertOverwritten(service: TestService, receipts: readonly string[]): Promise<void> {
  for (const id of receipts) {
    const { state, notCovered } = await receiptOf(service, id)
    assert.equal(state, 'overwritten')
    const codes = notCovered.map(({ code }) => code)
    assert.ok(!codes.includes('free_space') && codes.includes('backups') && codes.includes('disk'))
  }
}

describe('compacting a data folder that is served', () => {
  let service: TestService
  before(async () => {
    service = await startTestService({ engine: 'sqlite' })
  })
  after(() => service.stop())

  it('leaves the erased bytes in no file of the folder (D17)', async () => {
    const receipts = await eraseCanary(service)
    const before = await filesWithCanary(service.folder)
    assert.ok(before.includes('property-events.db-wal'), 'the search finds what is there')
    assert.equal((await compactStore(service.storage, 'cli:test', { always: false })).kind, 'compacted')
    assert.deepEqual(await filesWithCanary(service.folder), [])
    await assertOverwritten(service, receipts)
  })
})

describe('compacting a database', () => {
  let server: LaunchedPostgres
  let service: TestService
  before(async () => {
    server = await launchPostgres()
    service = await startTestService({ engine: 'postgres', databaseUrl: server.url() })
  })
  after(async () => {
    await service?.stop()
    await server?.[Symbol.asyncDispose]()
  })

  async function session(): Promise<Client> {
    const client = new Client({ connectionString: server.url() })
    await client.connect()
    return client
  }

  it('leaves the erased bytes in no file of the cluster but its log, beside a session that still sees them (D17)', async () => {
    const [admin, reader] = [await session(), await session()]
    const statistics = (target: number) =>
      admin.query(`ALTER TABLE event ALTER COLUMN json SET STATISTICS ${target}, ALTER COLUMN branch SET STATISTICS ${target};
        ALTER TABLE subject ALTER COLUMN branch SET STATISTICS ${target}`)
    const columns = async () =>
      (
        await admin.query(`SELECT attrelid::regclass::text, attname, attstorage, attcompression FROM pg_attribute
          WHERE attrelid IN ('event'::regclass, 'subject'::regclass, 'event_id'::regclass) AND attnum > 0 ORDER BY 1, 2`)
      ).rows
    const files = async () => {
      await admin.query('CHECKPOINT')
      return filesWithCanary(server.dataFolder)
    }
    try {
      // As an administrator of the database may have it sampled.
      await statistics(100)
      const erased = await publishCanary(service)
      await changeCanary(service, erased)
      await admin.query('ANALYZE')
      await statistics(0)
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
      await reader.query('SELECT')
      const receipts = (await eraseAll(service, erased)).map(({ id }) => id)

      const columnsBefore = await columns()
      const { rows } = await admin.query<{ name: string }>(`
        SELECT pg_relation_filepath(name::regclass) AS name FROM unnest('{event,subject,pg_statistic}'::text[]) AS name
        UNION ALL SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 'event'::regclass`)
      const before = await files()
      for (const { name } of rows) assert.ok(before.includes(name), `the search finds what is in ${name}`)

      let isDone = false
      const compacting = compactStore(service.storage, 'cli:test', { always: false }).finally(
        () => (isDone = true),
      )
      const hasLooked = async () =>
        (await admin.query(`SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT age($1::text::xid)%'`))
          .rowCount === 1
      await until(async () => isDone || (await hasLooked()), { what: 'it to look for old states' })
      await reader.query('ROLLBACK')
      assert.equal((await compacting).kind, 'compacted')
      assert.deepEqual(await files(), [])
      await assertOverwritten(service, receipts)
      await readAll(service, addressesOf(erased))

      assert.deepEqual(await columns(), columnsBefore, 'what was said of the columns is as it was')
      const { rowCount } = await admin.query(
        `SELECT FROM pg_stats WHERE attname IN ('json', 'branch', 'content_hash')`,
      )
      assert.equal(rowCount, 0)
    } finally {
      await reader.end()
      await admin.end()
    }
  })
})
