/**
 * The tables that hold rows of a tenant, and how to find these: what a deletion removes (docs/decisions/0044). A test compares this list
 * with the schema, so that a new table is either here or among those that no tenant owns.
 */
import type { OwnedCounts } from '../deletion-store.ts'
import type { Connection } from './connection.ts'

interface OwnedTable {
  readonly table: string
  /** Columns that identify one row. */
  readonly key: string
  /** With `@feedNo` or `@tenant`. */
  readonly where: string
  /** The kind under which its rows are counted. */
  readonly counted?: keyof OwnedCounts
}

const ofFeed = 'feed_no = @feedNo'
const ofErasure = 'erasure IN (SELECT erasure FROM erasure WHERE feed_no = @feedNo)'

/** Rows come before the rows that they are found by. The rows of events are removed with the events; this is the rest. */
export const ownedByFeed: readonly OwnedTable[] = [
  {
    table: 'event',
    key: 'place',
    where: 'place > @feedNo << 40 AND place < (@feedNo + 1) << 40',
    counted: 'events',
  },
  { table: 'event_id', key: 'feed_no, id', where: ofFeed },
  { table: 'subject', key: 'feed_no, subject', where: ofFeed, counted: 'subjects' },
  { table: 'view_entry', key: 'feed_no, view, ordinal', where: ofFeed },
  { table: 'kept_event', key: 'feed_no, subject, position', where: ofFeed },
  { table: 'reduced_event', key: 'feed_no, revision, position', where: ofFeed },
  { table: 'thinned_event', key: 'feed_no, thinned, position', where: ofFeed },
  { table: 'branch_latest', key: 'feed_no, subject, branch_set', where: ofFeed },
  { table: 'branch_of_set', key: 'feed_no, branch, branch_set', where: ofFeed },
  { table: 'branch_set', key: 'feed_no, branch_set', where: ofFeed },
  { table: 'thin_progress', key: 'feed_no', where: ofFeed },
  { table: 'erasure_sent', key: 'erasure, hour, key_id, view, block', where: ofErasure },
  { table: 'erasure_noted', key: 'erasure', where: ofErasure },
  { table: 'erasure_node', key: 'erasure, node', where: ofErasure },
  { table: 'erasure', key: 'erasure', where: ofFeed, counted: 'erasures' },
]

export const ownedByTenant: readonly OwnedTable[] = [
  { table: 'hold', key: 'hold', where: 'tenant = @tenant', counted: 'holds' },
  { table: 'restriction', key: 'restriction', where: 'tenant = @tenant', counted: 'restrictions' },
  {
    table: 'sent',
    key: 'key_id, tenant, feed, view, hour, block',
    where: 'tenant = @tenant',
    counted: 'sent',
  },
  { table: 'published', key: 'tenant, minute, feed, key_id', where: 'tenant = @tenant' },
  { table: 'refusal', key: 'tenant, minute, feed, key_id, place', where: 'tenant = @tenant' },
  {
    table: 'consumer_sent',
    key: 'tenant, feed, key_id, name, minute, view, space, epoch, route',
    where: 'tenant = @tenant',
  },
  {
    table: 'consumer_view',
    key: 'tenant, feed, key_id, name, view, space, epoch',
    where: 'tenant = @tenant',
  },
  { table: 'consumer', key: 'tenant, feed, key_id, name', where: 'tenant = @tenant' },
  { table: 'consumer_refusal', key: 'key_id, name, tenant, code', where: 'tenant = @tenant' },
  { table: 'consumer_result', key: 'tenant, subject, key_id, name', where: 'tenant = @tenant' },
  { table: 'expiring_contact', key: 'tenant, subject', where: 'tenant = @tenant' },
  { table: 'expiry_progress', key: 'tenant', where: 'tenant = @tenant' },
  { table: 'retention_rule', key: 'tenant, rule', where: 'tenant = @tenant' },
]

/** Tables whose rows about a tenant are kept for ever. */
const kept: ReadonlySet<string> = new Set(['audit', 'tenant_deletion'])

/**
 * Tables that no list here names, and whose rows name their tenant: what a later version adds is removed with its tenant, and is not
 * counted.
 */
export function furtherTables(db: Connection): {
  readonly byFeed: readonly OwnedTable[]
  readonly byTenant: readonly OwnedTable[]
} {
  const named = new Set<string>([...ownedByFeed, ...ownedByTenant].map(({ table }) => table))
  for (const table of ownedToTheEnd) named.add(table)
  const select = db.prepare<[string], { readonly table: string; readonly key: string | null }>(
    `SELECT s.name AS "table", (SELECT group_concat(k.name, ', ') FROM pragma_table_info(s.name) k WHERE k.pk > 0) AS key
      FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = 'table' AND c.name = ? ORDER BY s.name`,
  )
  const further = (column: string, where: string): readonly OwnedTable[] =>
    select
      .all(column)
      .filter(({ table }) => !named.has(table) && !kept.has(table))
      .map(({ table, key }) => ({ table, key: key ?? 'rowid', where }))
  return { byFeed: further('feed_no', ofFeed), byTenant: further('tenant', 'tenant = @tenant') }
}

/** Removed in the last commit, with the tenant. Moments are few: each is kept for ten minutes. */
export const ownedToTheEnd = [
  'moment',
  'key_grant',
  'key',
  'view',
  'feed',
  'leaving_tenant',
  'tenant',
] as const

export interface OwnedOf {
  readonly tenant: string
  readonly feedNo: number
}

/** Removes at most this many rows of one table. Returns how many. */
export type RowRemover = (of: OwnedOf, limit: number) => number

/** For each table, in their order. */
export function rowRemovers(
  db: Connection,
  tables: readonly OwnedTable[],
): readonly { readonly counted: keyof OwnedCounts | undefined; readonly remove: RowRemover }[] {
  return tables.map(({ table, key, where, counted }) => {
    const statement = db.prepare(
      `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${where} LIMIT @limit)`,
    )
    return { counted, remove: (of, limit) => statement.run({ ...named(of, where), limit }).changes }
  })
}

/** The number of rows of each counted kind. */
export function rowCounter(
  db: Connection,
): (of: OwnedOf, ofTables: readonly OwnedTable[]) => Partial<OwnedCounts> {
  return (of, tables) =>
    Object.fromEntries(
      tables.flatMap(({ table, where, counted }) => {
        if (counted === undefined || counted === 'events') return []
        const count = db.prepare<[object], number>(`SELECT count(*) FROM ${table} WHERE ${where}`).pluck()
        return [[counted, count.get(named(of, where)) ?? 0]]
      }),
    )
}

/** A statement accepts only the values that it names. */
function named({ tenant, feedNo }: OwnedOf, where: string): object {
  return where.includes('@tenant') ? { tenant } : { feedNo }
}
