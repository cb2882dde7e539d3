/** The statements of a set of tables in SQLite, and how a batch is written with them. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { JsonValue } from './clean-value.ts'
import { listingColumns, mediaColumns, removedColumns } from './columns.ts'
import type { ColumnKind } from './columns.ts'
import { writtenByAnother } from './listing-tables.ts'
import type { TableBatch } from './listing-tables.ts'
import { listingUpsert, mediaUpsert, removedUpsert } from './statements.ts'
import type { Upsert } from './statements.ts'
import type { TableNames } from './table-names.ts'

/** So many are read at a time. */
export const referencesAtOnce = 10_000

export type Statements = ReturnType<typeof prepareStatements>

export function prepareStatements(db: DatabaseSync, names: TableNames) {
  const { listings, media, removed, sync } = names
  const ofOne = 'WHERE tenant = ? AND reference = ?'
  return {
    load: db.prepare(
      `SELECT checkpoint, writes, rows_version,
        NOT is_empty AND NOT EXISTS (SELECT 1 FROM ${listings} WHERE tenant = ?1) AS is_lost
      FROM ${sync} WHERE tenant = ?1`,
    ),
    // Columns by name: a website may have added one.
    saveNew: db.prepare(
      `INSERT INTO ${sync} (tenant, checkpoint, writes, rows_version, is_empty, changed_at) VALUES (?, ?, 1, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    save: db.prepare(
      `UPDATE ${sync} SET checkpoint = ?, writes = writes + 1, rows_version = ?, is_empty = ?, changed_at = ? WHERE tenant = ? AND writes = ?`,
    ),
    caughtUp: db.prepare(`UPDATE ${sync} SET caught_up_at = ? WHERE tenant = ?`),
    count: db.prepare(`SELECT count(*) AS n FROM ${listings} WHERE tenant = ?`),
    isEmpty: db.prepare(`SELECT NOT EXISTS (SELECT 1 FROM ${listings} WHERE tenant = ?) AS n`),
    holds: db.prepare(
      `SELECT count(*) AS n FROM ${listings} WHERE tenant = ? AND reference IN (SELECT value FROM json_each(?))`,
    ),
    held: db.prepare(
      `SELECT reference, sequence_number FROM ${listings} WHERE tenant = ? AND reference > ? ORDER BY reference LIMIT ${referencesAtOnce}`,
    ),
    references: db.prepare(
      `SELECT reference FROM ${listings} WHERE tenant = ? AND reference > ? ORDER BY reference LIMIT ${referencesAtOnce}`,
    ),
    putListing: preparedUpsert(db, listingUpsert(names)),
    putMedium: preparedUpsert(db, mediaUpsert(names)),
    putRemoved: preparedUpsert(db, removedUpsert(names)),
    cutMedia: db.prepare(
      `DELETE FROM ${media} ${ofOne} AND (kind, position) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
    ),
    forgetRemoved: db.prepare(`DELETE FROM ${removed} ${ofOne}`),
    removeListing: db.prepare(`DELETE FROM ${listings} ${ofOne}`),
    removeMedia: db.prepare(`DELETE FROM ${media} ${ofOne}`),
  } as const
}

function preparedUpsert(db: DatabaseSync, { insert, values, onConflict }: Upsert): StatementSync {
  return db.prepare(`${insert} VALUES (${values.map((column) => `:${column}`).join(', ')}) ${onConflict}`)
}

/**
 * Within a transaction of the caller's. `writesBefore`: as this process knows it; throws a `TablesRefusal` where the tables
 * have another number.
 */
export function writeBatch(statements: Statements, batch: TableBatch, writesBefore: number): void {
  const { tenant, listings, media, removed } = batch
  const mediaOf = Map.groupBy(media, ({ reference }) => reference)
  for (const row of listings) {
    const { reference } = row
    const own = mediaOf.get(reference) ?? []
    const places = JSON.stringify(own.map(({ kind, position }) => [kind, position]))
    statements.putListing.run(cells(row, listingColumns))
    statements.cutMedia.run(tenant, reference, places)
    for (const medium of own) statements.putMedium.run(cells(medium, mediaColumns))
    statements.forgetRemoved.run(tenant, reference)
  }
  for (const row of removed) {
    const { reference } = row
    statements.removeListing.run(tenant, reference)
    statements.removeMedia.run(tenant, reference)
    statements.putRemoved.run(cells(row, removedColumns))
  }
  const checkpoint = JSON.stringify(batch.checkpoint)
  const changedAt = new Date(batch.nowMs).toISOString()
  const isEmpty = numberOf(statements.isEmpty.get(tenant))
  const { changes } =
    writesBefore === 0
      ? statements.saveNew.run(tenant, checkpoint, batch.rowsVersion, isEmpty, changedAt)
      : statements.save.run(checkpoint, batch.rowsVersion, isEmpty, changedAt, tenant, writesBefore)
  if (changes !== 1) throw writtenByAnother(tenant)
}

/** A row as SQLite takes it. */
function cells(
  row: Readonly<Record<string, JsonValue>>,
  kinds: Readonly<Record<string, ColumnKind>>,
): Record<string, SQLInputValue> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, cell(value, kinds[column])]),
  )
}

function cell(value: JsonValue, kind: ColumnKind | undefined): SQLInputValue {
  if (value === null) return null
  if (typeof value === 'boolean' && kind === 'boolean') return value ? 1 : 0
  if (kind !== 'json' && (typeof value === 'number' || typeof value === 'string')) return value
  return JSON.stringify(value)
}

/** The `n` of a row. */
export function numberOf(row: Record<string, unknown> | undefined): number {
  return Number(row?.['n'] ?? 0)
}
