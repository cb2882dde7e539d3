/** Each table of either engine is either among those that a deletion empties, or known to hold nothing of a tenant (PROTOCOL §12.9). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { openStorage, storeFileOf } from '../../src/storage/open-storage.ts'
import { connect } from '../../src/storage/postgres/connection.ts'
import {
  furtherTables,
  ownedByFeed,
  ownedByTenant,
  ownedToTheEnd,
} from '../../src/storage/sqlite/owned-rows.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** What is kept of a tenant for ever, or of none. */
const kept = new Set(['audit', 'tenant_deletion'])

/** Columns that say whose a row is. */
const ofTenants = ['tenant', 'feed_no', 'erasure', 'key_no']

describe('tables that hold something of a tenant', () => {
  it('are all emptied by a deletion on SQLite (PROTOCOL §12.9)', async () => {
    using folder = temporaryFolder()
    const given = {
      kind: 'sqlite',
      folder: folder.path,
      create: true,
      catalogue: catalogues.default,
    } as const
    await (await openStorage(given)).close()
    const db = new Database(storeFileOf(folder.path), { readonly: true })
    const tables = db
      .prepare<[], string>(
        `SELECT DISTINCT s.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
          WHERE s.type = 'table' AND c.name IN (${ofTenants.map((name) => `'${name}'`).join()}) ORDER BY s.name`,
      )
      .pluck()
      .all()
    const { byFeed, byTenant } = furtherTables(db)
    db.close()
    const emptied = [...ownedByFeed, ...ownedByTenant, ...byFeed, ...byTenant].map(({ table }) => table)
    assert.deepEqual(
      tables.filter((table) => !kept.has(table)).toSorted(),
      [...emptied, ...ownedToTheEnd].toSorted(),
    )
  })

  it('are all emptied by a deletion on PostgreSQL (PROTOCOL §12.9)', async () => {
    const url = await (await sharedDatabases()).create()
    const given = { kind: 'postgres', url, readConnections: 1, create: true } as const
    await (await openStorage({ ...given, catalogue: catalogues.default })).close()
    const database = connect({ url, readConnections: 1 })
    const tables = await database.read<{ name: string; owned: boolean }>(
      {
        name: 'tables',
        text: `SELECT c.relname AS name, bool_or(a.attname = 'tenant') AS owned FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
          WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT a.attisdropped
            AND a.attname = ANY (ARRAY[${ofTenants.map((name) => `'${name}'`).join()}])
          GROUP BY c.relname ORDER BY name`,
      },
      [],
    )
    const [row] = await database.read<{ text: string }>(
      {
        name: 'functions',
        text: `SELECT string_agg(prosrc, ' ') AS text FROM pg_proc
          WHERE pronamespace = current_schema()::regnamespace
            AND proname IN ('delete_next_events', 'delete_owned', 'delete_owned_keys', 'delete_owner')`,
      },
      [],
    )
    await database.close()
    const source = row?.text ?? ''
    const [, passed = ''] = /<> ALL \('\{([^}]*)\}/.exec(source) ?? []
    const byName = new Set(passed.split(','))
    // A table that says whose its rows are is emptied, unless it is passed by; then, or without that, its name has to be there.
    const missing = tables.filter(
      ({ name, owned }) =>
        !kept.has(name) && (!owned || byName.has(name)) && !new RegExp(`DELETE FROM ${name}\\b`).test(source),
    )
    assert.deepEqual(missing, [])
    assert.ok(tables.length > 20)
  })
})
