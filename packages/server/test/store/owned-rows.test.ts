/** A deletion empties each table that holds something of a tenant, also one that nobody has thought of (PROTOCOL §12.9). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { catalogues, uuidV7 } from '@property-events/protocol'
import type { Query } from '../../src/sql/database.ts'
import { statementOf } from '../../src/sql/postgres.ts'
import { statementRunner } from '../../src/sql/sqlite.ts'
import { openStorage, storeFileOf } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { ownedTables } from '../../src/tenants/deletion/owned-rows.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { tenantA, tenantB } from './support/drafts.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** What a deletion leaves, and why; a new table is either emptied, or has to be thought of here. */
const left: Readonly<Record<string, string>> = {
  audit: 'is kept for ever',
  tenant_deletion: 'is the certificate',
  tenant_deletion_node: 'is removed by the id of the deletion',
  key: 'is removed with the grants',
  meta: 'is of the store',
  store: 'is of the store',
  maintenance: 'is of the store',
  answered_until: 'is of the store',
  time_reservation: 'is of the store',
  keys_version: 'is of the store',
  node: 'is of nodes',
  webhook_sender: 'is of nodes',
  thin_turn: 'is of nodes',
  silence_turn: 'is of nodes',
  sent_run: 'is of nodes',
  actor_name: 'is of actors',
  usage_hour: 'counts requests of keys',
  usage_day: 'counts requests of keys',
  refusal_hour: 'counts requests of keys',
  login_link: 'ends with its key',
  console_session: 'ends with its key',
}

interface Given {
  readonly store: StorageEngine
  /** Asks the database beside the store. */
  readonly ask: <Row extends object>(query: Query<Row>) => Promise<readonly Row[]>
  readonly tables: readonly string[]
}

async function namesOf(ask: Given['ask']): Promise<readonly string[]> {
  const { rest, keys, last } = await ownedTables({ rows: ask, nowMs: () => Promise.resolve(0) })
  return [...rest, ...keys, ...last].map(({ name }) => name)
}

function query<Row extends object>(text: string): Query<Row> {
  return { name: text, text, values: [] }
}

async function provesAll({ store, ask, tables }: Given): Promise<void> {
  assert.deepEqual(
    [...(await namesOf(ask)), ...Object.keys(left)].filter((name) => tables.includes(name)).toSorted(),
    tables.toSorted(),
  )
  await withTenants(store)
  await ask(query(`CREATE TABLE later (tenant text, note text)`))
  for (const tenantId of [tenantA, tenantB, tenantA]) {
    await ask(query(`INSERT INTO later VALUES ('${tenantId}', 'Tŷ’r Bont – £450,000 🏡')`))
  }
  await store.tenants.changeTenant(tenantA, { suspended: true }, 'cli:test')
  const deletionId = uuidV7(Date.now())
  const begun = await store.deletions.begin({ deletionId, tenantId: tenantA, export: 'none' }, 'cli:test')
  assert.equal(begun.kind, 'begun')
  while ((await store.deletions.step(deletionId, 1)) === 'removed');
  assert.equal(await store.deletions.acknowledge(deletionId, undefined), 'deleted')
  assert.deepEqual(await ask(query('SELECT tenant FROM later')), [{ tenant: tenantB }])
}

describe('tables that hold something of a tenant', () => {
  it('are all emptied by a deletion on SQLite, later ones too (PROTOCOL §12.9)', async () => {
    using folder = temporaryFolder()
    const place = { kind: 'sqlite', folder: folder.path, create: true } as const
    await using store = await openStorage({ ...place, catalogue: catalogues.default })
    const db = new Database(storeFileOf(folder.path))
    try {
      const run = statementRunner(db)
      const tables = run(query<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`))
      const names = tables.map(({ name }) => name).filter((name) => !name.startsWith('sqlite_'))
      await provesAll({ store, ask: async (one) => run(one), tables: names })
    } finally {
      db.close()
    }
  })

  it('are all emptied by a deletion on PostgreSQL, later ones too (PROTOCOL §12.9)', async () => {
    const url = await (await sharedDatabases()).create()
    const place = { kind: 'postgres', url, readConnections: 1, create: true } as const
    await using store = await openStorage({ ...place, catalogue: catalogues.default })
    const client = new Client(url)
    await client.connect()
    const ask = async <Row extends object>(one: Query<Row>): Promise<readonly Row[]> =>
      (await client.query<Row>(statementOf(one).text)).rows
    try {
      const tables = await ask(
        query<{ name: string }>(
          `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
        ),
      )
      await provesAll({ store, ask, tables: tables.map(({ name }) => name) })
    } finally {
      await client.end()
    }
  })
})
