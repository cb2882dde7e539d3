/**
 * What a deletion removes beside events and keys (docs/decisions/0044): the rows of every table with a column that says whose they are.
 * The tables are found in the schema, so that one that is added is emptied as well.
 */
import { statement } from '../../sql/database.ts'
import type { Query, Sql } from '../../sql/database.ts'
import type { OwnedCounts } from './deletion.ts'

interface FoundColumn {
  readonly table: string
  readonly column: string
  /** Of SQLite: what identifies a row. */
  readonly key: string | null
}

/** By which columns a row is found to be a tenant's; a table that has several goes by the first. `feed_no` is SQLite's alone. */
const owners = ['tenant', 'feed_no', 'endpoint_no', 'erasure']
const named = owners.map((name) => `'${name}'`).join(', ')
const columnsOfOwners = statement<FoundColumn>('owned-columns', (dialect) =>
  dialect === 'sqlite'
    ? `SELECT s.name AS "table", c.name AS "column",
          (SELECT group_concat(k.name, ', ') FROM pragma_table_info(s.name) k WHERE k.pk > 0) AS key
        FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = 'table' AND c.name IN (${named}) ORDER BY s.name`
    : `SELECT c.relname AS "table", a.attname AS "column", NULL AS key
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'tenant_deletion'::regclass)
          AND c.relkind = 'r' AND NOT a.attisdropped AND a.attname IN (${named}) ORDER BY c.relname`,
)

/** Kept for ever. */
const kept = ['audit', 'tenant_deletion']
/** Removed with the keys. */
const ofKeys = ['key_grant']
/** Removed in this order in the last commit, with the tenant. */
const toTheEnd = ['view', 'leaving_tenant', 'feed', 'tenant']
const notRest = new Set([...kept, ...ofKeys, ...toTheEnd])

const counted: Readonly<Record<string, keyof OwnedCounts>> = {
  subject: 'subjects',
  erasure: 'erasures',
  hold: 'holds',
  restriction: 'restrictions',
  sent: 'sent',
}

/** A table with rows of tenants. */
export interface OwnedTable {
  readonly name: string
  /** What its rows are counted as. */
  readonly counted: keyof OwnedCounts | undefined
  /** Removes at most so many rows of the tenant of a deletion. Each row of the answer says how many. */
  readonly remove: (deletionId: string, limit: number) => Query<{ readonly removed: number }>
  /** How many rows a tenant has. */
  readonly count: (tenantId: string) => Query<{ readonly found: number }>
}

/** The tables that a deletion empties after the events and before the keys, and those that it empties last. */
export async function ownedTables(sql: Sql): Promise<{
  readonly rest: readonly OwnedTable[]
  readonly keys: readonly OwnedTable[]
  readonly last: readonly OwnedTable[]
}> {
  const columns = await sql.rows(columnsOfOwners())
  const found = new Map<string, FoundColumn>()
  for (const owner of owners.toReversed()) {
    for (const row of columns) if (row.column === owner) found.set(row.table, row)
  }
  const table = ({ table: name, column, key }: FoundColumn): OwnedTable => {
    return { name, counted: counted[name], ...statementsOf(name, key ?? 'rowid', conditionOf(column)) }
  }
  const rest = [...found.values()].filter((row) => !notRest.has(row.table)).map(table)
  const ofNames = (names: readonly string[]): readonly OwnedTable[] =>
    names.flatMap((name) => {
      const row = found.get(name)
      return row === undefined ? [] : [table(row)]
    })
  // Rows come before those that they are found by, and events, of which none is left, last: the walk over them is the longest.
  const place = ({ name }: OwnedTable): number =>
    name === 'erasure' || name === 'webhook' ? 1 : name === 'event' ? 2 : 0
  return {
    rest: rest.toSorted((a, b) => place(a) - place(b)),
    keys: ofNames(ofKeys),
    last: ofNames(toTheEnd),
  }
}

/** The tables in which the other columns say whose they are. */
const tablesOfOwners: Readonly<Record<string, string>> = {
  feed_no: 'feed',
  endpoint_no: 'webhook',
  erasure: 'erasure',
}

/** What is true of a tenant's rows. */
function conditionOf(column: string): (tenant: string) => string {
  const table = tablesOfOwners[column]
  return (tenant) =>
    table === undefined
      ? `tenant = ${tenant}`
      : `${column} IN (SELECT ${column} FROM ${table} WHERE tenant = ${tenant})`
}

/** On PostgreSQL a function removes, with rights that nodes do not have. */
function statementsOf(
  table: string,
  key: string,
  condition: (tenant: string) => string,
): Pick<OwnedTable, 'remove' | 'count'> {
  const ofDeletion = '(SELECT tenant FROM tenant_deletion WHERE deletion = $1)'
  return {
    remove: statement<{ readonly removed: number }>(`owned-remove-${table}`, (dialect) =>
      dialect === 'sqlite'
        ? `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition(ofDeletion)} LIMIT $2)
            RETURNING 1 AS removed`
        : `SELECT delete_owned($1, '${table}', $2) AS removed`,
    ),
    count: statement<{ readonly found: number }>(
      `owned-count-${table}`,
      `SELECT count(*) AS found FROM ${table} WHERE ${condition('$1')}`,
    ),
  }
}
