/** How a batch is written to a set of tables in PostgreSQL: rows come as JSON, many in one statement. */
import type { JsonValue } from './clean-value.ts'
import { listingColumns, mediaColumns, removedColumns } from './columns.ts'
import type { ColumnKind } from './columns.ts'
import { writtenByAnother } from './listing-tables.ts'
import type { TableBatch } from './listing-tables.ts'
import { postgresTypes } from './schema.ts'
import type { Query } from './postgres-session.ts'
import { listingUpsert, mediaUpsert, removedUpsert } from './statements.ts'
import type { Upsert } from './statements.ts'
import type { TableNames } from './table-names.ts'

/** UTF-16 units of rows in one statement: their text is in memory several times, here and at the server. */
const maxStatementLength = 4 * 2 ** 20

/** Within a transaction of the caller's. `writesBefore`: as this process knows it; throws a `TablesRefusal` for another number. */
export async function writeBatch(
  query: Query,
  names: TableNames,
  batch: TableBatch,
  writesBefore: number,
): Promise<void> {
  const { tenant, listings, media, removed } = batch
  const { rows } = await query(`SELECT writes FROM ${names.sync} WHERE tenant = $1 FOR UPDATE`, [tenant])
  if (Number(rows[0]?.['writes'] ?? 0) !== writesBefore) throw writtenByAnother(tenant)

  const shown = listings.map(({ reference }) => reference)
  const gone = removed.map(({ reference }) => reference)
  await writeRows(query, listings, listingColumns, listingUpsert(names))
  await query(cutMedia(names), [tenant, shown, JSON.stringify(media.map(placeOf))])
  await writeRows(query, media, mediaColumns, mediaUpsert(names))
  await query(`DELETE FROM ${names.removed} WHERE tenant = $1 AND reference = ANY ($2)`, [tenant, shown])
  if (gone.length > 0) {
    await query(`DELETE FROM ${names.listings} WHERE tenant = $1 AND reference = ANY ($2)`, [tenant, gone])
    await query(`DELETE FROM ${names.media} WHERE tenant = $1 AND reference = ANY ($2)`, [tenant, gone])
  }
  await writeRows(query, removed, removedColumns, removedUpsert(names))
  await saveCheckpoint(query, names, batch, writesBefore)
}

/** Media of these listings in places that they do not have any more. */
function cutMedia({ media }: TableNames): string {
  return `DELETE FROM ${media} AS medium WHERE tenant = $1 AND reference = ANY ($2) AND NOT EXISTS (
    SELECT FROM json_to_recordset($3::json) AS given (reference text, kind text, position integer)
    WHERE given.reference = medium.reference AND given.kind = medium.kind AND given.position = medium.position)`
}

function placeOf({ reference, kind, position }: TableBatch['media'][number]) {
  return { reference, kind, position }
}

async function writeRows(
  query: Query,
  rows: readonly Readonly<Record<string, JsonValue>>[],
  columns: Readonly<Record<string, ColumnKind>>,
  { insert, values, onConflict }: Upsert,
): Promise<void> {
  const record = Object.entries(columns).map(([column, kind]) => `${column} ${postgresTypes[kind]}`)
  const statement = `${insert} SELECT ${values.join(', ')} FROM json_to_recordset($1::json) AS given (${record.join(', ')}) ${onConflict}`
  for (const part of partsOf(rows)) await query(statement, [part])
}

/** Rows as JSON lists of a limited length. */
function* partsOf(rows: readonly object[]): Generator<string> {
  let texts: string[] = []
  let length = 0
  for (const row of rows) {
    const text = JSON.stringify(row)
    if (length + text.length > maxStatementLength && texts.length > 0) {
      yield `[${texts.join(',')}]`
      texts = []
      length = 0
    }
    texts.push(text)
    length += text.length
  }
  if (texts.length > 0) yield `[${texts.join(',')}]`
}

async function saveCheckpoint(
  query: Query,
  names: TableNames,
  { tenant, checkpoint, rowsVersion, nowMs }: TableBatch,
  writesBefore: number,
): Promise<void> {
  const isEmpty = `NOT EXISTS (SELECT FROM ${names.listings} WHERE tenant = $1)`
  const { changed } = await query(
    `INSERT INTO ${names.sync} AS sync (tenant, checkpoint, writes, rows_version, is_empty, changed_at)
    VALUES ($1, $2, 1, $3, ${isEmpty}, $4)
    ON CONFLICT (tenant) DO UPDATE SET checkpoint = excluded.checkpoint, writes = sync.writes + 1,
      rows_version = excluded.rows_version, is_empty = excluded.is_empty, changed_at = excluded.changed_at
    WHERE sync.writes = $5`,
    [tenant, JSON.stringify(checkpoint), rowsVersion, new Date(nowMs).toISOString(), writesBefore],
  )
  if (changed !== 1) throw writtenByAnother(tenant)
}
