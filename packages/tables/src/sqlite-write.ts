/** The statements of a set of tables in SQLite, and how a batch is written with them. */
import type { Database, Statement } from 'better-sqlite3'
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

/** Its rows have their columns by name. */
type TableStatement = Statement<unknown[], Readonly<Record<string, unknown>>>

export function prepared(db: Database, text: string): TableStatement {
  return db.prepare<unknown[], Readonly<Record<string, unknown>>>(text)
}

/** What a column is written with. */
type Value = string | number | null

type Statements = ReturnType<typeof prepareStatements>

export function prepareStatements(db: Database, names: TableNames) {
  const { listings, media, removed, sync } = names
  const ofThese = 'WHERE tenant = ? AND reference IN (SELECT value FROM json_each(?))'
  return {
    load: prepared(
      db,
      `SELECT checkpoint, writes, rows_version,
        NOT is_empty AND NOT EXISTS (SELECT 1 FROM ${listings} WHERE tenant = :tenant) AS is_lost
      FROM ${sync} WHERE tenant = :tenant`,
    ),
    // Columns by name: a website may have added one.
    saveNew: prepared(
      db,
      `INSERT INTO ${sync} (tenant, checkpoint, writes, rows_version, is_empty, changed_at) VALUES (?, ?, 1, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    save: prepared(
      db,
      `UPDATE ${sync} SET checkpoint = ?, writes = writes + 1, rows_version = ?, is_empty = ?, changed_at = ? WHERE tenant = ? AND writes = ?`,
    ),
    caughtUp: prepared(db, `UPDATE ${sync} SET caught_up_at = ? WHERE tenant = ?`),
    count: prepared(db, `SELECT count(*) AS n FROM ${listings} WHERE tenant = ?`),
    isEmpty: prepared(db, `SELECT NOT EXISTS (SELECT 1 FROM ${listings} WHERE tenant = ?) AS n`),
    countOf: prepared(db, `SELECT count(*) AS n FROM ${listings} ${ofThese}`),
    held: prepared(
      db,
      `SELECT reference, sequence_number FROM ${listings} WHERE tenant = ? AND reference > ? ORDER BY reference LIMIT ${referencesAtOnce}`,
    ),
    references: prepared(
      db,
      `SELECT reference FROM ${listings} WHERE tenant = ? AND reference > ? ORDER BY reference LIMIT ${referencesAtOnce}`,
    ),
    putListing: preparedUpsert(db, listingUpsert(names), listingColumns),
    putMedium: preparedUpsert(db, mediaUpsert(names), mediaColumns),
    putRemoved: preparedUpsert(db, removedUpsert(names), removedColumns),
    cutMedia: prepared(
      db,
      `DELETE FROM ${media} ${ofThese} AND (reference, kind, position) NOT IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
    ),
    forgetRemoved: prepared(db, `DELETE FROM ${removed} ${ofThese}`),
    removeListings: prepared(db, `DELETE FROM ${listings} ${ofThese}`),
    removeMedia: prepared(db, `DELETE FROM ${media} ${ofThese}`),
  } as const
}

/** Values by place: by name, each of a hundred would be looked up, and a row be made twice. */
function preparedUpsert(
  db: Database,
  { insert, values, onConflict }: Upsert,
  kinds: Readonly<Record<string, ColumnKind>>,
): (row: Readonly<Record<string, JsonValue>>) => void {
  const statement = prepared(db, `${insert} VALUES (${values.map(() => '?').join(', ')}) ${onConflict}`)
  return (row) => void statement.run(values.map((column) => cell(row[column] ?? null, kinds[column])))
}

/**
 * Within a transaction of the caller's. `writesBefore`: as this process knows it; throws a `TablesRefusal` where the tables
 * have another number.
 */
export function writeBatch(statements: Statements, batch: TableBatch, writesBefore: number): void {
  const { tenant, listings, media, removed } = batch
  const shown = referencesOf(listings)
  const gone = referencesOf(removed)
  const places = media.map(({ reference, kind, position }) => [reference, kind, position])
  for (const row of listings) statements.putListing(row)
  statements.cutMedia.run(tenant, shown, JSON.stringify(places))
  for (const row of media) statements.putMedium(row)
  statements.forgetRemoved.run(tenant, shown)
  statements.removeListings.run(tenant, gone)
  statements.removeMedia.run(tenant, gone)
  for (const row of removed) statements.putRemoved(row)
  const checkpoint = JSON.stringify(batch.checkpoint)
  const changedAt = new Date(batch.nowMs).toISOString()
  const isEmpty = numberOf(statements.isEmpty.get(tenant))
  const { changes } =
    writesBefore === 0
      ? statements.saveNew.run(tenant, checkpoint, batch.rowsVersion, isEmpty, changedAt)
      : statements.save.run(checkpoint, batch.rowsVersion, isEmpty, changedAt, tenant, writesBefore)
  if (changes !== 1) throw writtenByAnother(tenant)
}

function referencesOf(rows: readonly { readonly reference: string }[]): string {
  return JSON.stringify(rows.map(({ reference }) => reference))
}

function cell(value: JsonValue, kind: ColumnKind | undefined): Value {
  if (value === null) return null
  if (typeof value === 'boolean' && kind === 'boolean') return value ? 1 : 0
  if (kind !== 'json' && (typeof value === 'number' || typeof value === 'string')) return value
  return JSON.stringify(value)
}

/** The `n` of a row. */
export function numberOf(row: Record<string, unknown> | undefined): number {
  return Number(row?.['n'] ?? 0)
}
