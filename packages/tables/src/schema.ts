/** Creates a set of tables, and checks one that exists. Touches its own tables, and no others. */
import { plainText } from '@property-events/protocol'
import { listingTableColumns, mediaColumns, removedColumns, requiredColumns } from './columns.ts'
import type { ColumnKind } from './columns.ts'
import { TablesRefusal } from './listing-tables.ts'
import type { TableNames } from './table-names.ts'

/** Recorded in the tables. A program refuses tables of another version. */
const schemaVersion = 1

/** The words of an engine for each kind of column. */
type ColumnTypes = Readonly<Record<ColumnKind, string>>

export const postgresTypes: ColumnTypes = {
  text: 'text',
  integer: 'integer',
  bigint: 'bigint',
  numeric: 'numeric',
  double: 'double precision',
  boolean: 'boolean',
  day: 'date',
  instant: 'timestamptz',
  json: 'jsonb',
}

/** Days and instants are ISO texts, which sort and which SQLite's own functions read; booleans are 0 and 1. */
const sqliteTypes: ColumnTypes = {
  text: 'TEXT',
  integer: 'INTEGER',
  bigint: 'INTEGER',
  numeric: 'REAL',
  double: 'REAL',
  boolean: 'INTEGER',
  day: 'TEXT',
  instant: 'TEXT',
  json: 'TEXT',
}

interface Dialect {
  readonly types: ColumnTypes
  /** Text after the columns of a table. */
  readonly tableOptions: string
}

export const postgresDialect: Dialect = { types: postgresTypes, tableOptions: '' }
export const sqliteDialect: Dialect = { types: sqliteTypes, tableOptions: ' STRICT' }

/** What an engine does for the tables. Synchronous engines may answer at once. */
export interface SchemaSession {
  /** Which of these tables and views exist. */
  existing(names: readonly string[]): Promise<readonly string[]>
  /** The recorded version; `undefined`: the table holds none of ours, or has another form. */
  version(): Promise<number | undefined>
  /** All statements in one transaction. */
  transaction(statements: readonly string[]): Promise<void>
}

/**
 * Creates the tables if there are none. Throws a `TablesRefusal` for tables that are not ours, that have another version, or some of which
 * are missing.
 */
export async function prepareTables(
  session: SchemaSession,
  names: TableNames,
  dialect: Dialect,
): Promise<void> {
  const [versionTable = ''] = names.all
  const existing = await session.existing(names.all)
  if (!existing.includes(versionTable)) {
    if (existing[0] !== undefined) throw notOurs(existing[0])
    return session.transaction([...tableStatements(names, dialect), ...versionStatements(names, dialect)])
  }
  const version = await session.version()
  if (version === undefined) throw notOurs(versionTable)
  if (version !== schemaVersion) throw otherVersion(version)
  const missing = names.all.filter((name) => !existing.includes(name))
  if (missing.length > 0) throw incomplete(missing, names)
}

/** Creates the tables with their indexes and views, except for the one of the version. */
export function tableStatements(names: TableNames, dialect: Dialect): readonly string[] {
  return [
    createTable(names.listings, listingTableColumns, 'tenant, reference', dialect),
    `CREATE INDEX "${names.prefix}listings_by_reference" ON ${names.listings} (reference)`,
    `CREATE INDEX "${names.prefix}listings_by_price" ON ${names.listings} (category, price)`,
    createTable(names.media, mediaColumns, 'tenant, reference, kind, position', dialect),
    createTable(names.removed, removedColumns, 'tenant, reference', dialect),
    `CREATE INDEX "${names.prefix}listing_removed_by_reference" ON ${names.removed} (reference)`,
    syncTable(names, dialect),
    saleView(names),
    lettingView(names),
  ]
}

function createTable(
  table: string,
  columns: Readonly<Record<string, ColumnKind>>,
  key: string,
  { types, tableOptions }: Dialect,
): string {
  const lines = Object.entries(columns).map(([name, kind]) => {
    return `  ${name} ${types[kind]}${requiredColumns.has(name) ? ' NOT NULL' : ''}`
  })
  return `CREATE TABLE ${table} (\n${lines.join(',\n')},\n  PRIMARY KEY (${key})\n)${tableOptions}`
}

function syncTable(names: TableNames, { types: t, tableOptions }: Dialect): string {
  return `CREATE TABLE ${names.sync} (
  tenant ${t.text} NOT NULL PRIMARY KEY,
  checkpoint ${t.text} NOT NULL,
  writes ${t.bigint} NOT NULL,
  rows_version ${t.integer} NOT NULL,
  is_empty ${t.boolean} NOT NULL,
  changed_at ${t.instant} NOT NULL,
  caught_up_at ${t.instant}
)${tableOptions}`
}

/** What both views show, in the order in which a page needs it. */
const shownColumns = `tenant, reference, type, status, is_available, is_new_home, price, price_text, first_price,
  previous_price, price_changed_at, display_address, town, postcode, latitude, longitude, bedrooms, bathrooms,
  reception_rooms, main_photograph, main_photograph_caption, photograph_count, summary_text, summary_html,
  description_text, description_html, features, energy_rating, council_tax_band, internal_area, internal_area_unit,
  added_on, published_at, first_seen_at`

function saleView(names: TableNames): string {
  return `CREATE VIEW ${names.forSale} AS SELECT ${shownColumns},
  price_qualifier, tenure, lease_years
FROM ${names.listings} WHERE category = 'sales'`
}

function lettingView(names: TableNames): string {
  return `CREATE VIEW ${names.toLet} AS SELECT ${shownColumns},
  rent_frequency, rent_per_month, deposit, available_on, furnished, let_type
FROM ${names.listings} WHERE category = 'lettings'`
}

/** Marks our table of the version, so that somebody else's table of the same name is not taken for it. */
const programMark = 'property-events sync'

function versionStatements(names: TableNames, { types, tableOptions }: Dialect): readonly string[] {
  return [
    `CREATE TABLE ${names.version} (program ${types.text} NOT NULL PRIMARY KEY, version ${types.integer} NOT NULL)${tableOptions}`,
    `INSERT INTO ${names.version} VALUES ('${programMark}', ${schemaVersion})`,
  ]
}

export function versionQuery(names: TableNames): string {
  return `SELECT version FROM ${names.version} WHERE program = '${programMark}'`
}

function notOurs(table: string): TablesRefusal {
  return new TablesRefusal(
    `The database has "${plainText(table)}", which sync did not create, and sync never changes such tables. ` +
      'Choose other names, such as --prefix feed_ for feed_listings.',
  )
}

function otherVersion(found: number): TablesRefusal {
  return new TablesRefusal(
    `The tables have version ${found}, and this property-events knows version ${schemaVersion}. ` +
      'Use the program that made them, or other tables with --prefix.',
  )
}

function incomplete(missing: readonly string[], { prefix }: TableNames): TablesRefusal {
  return new TablesRefusal(
    `${missing.map((name) => `"${name}"`).join(', ')} ${missing.length === 1 ? 'is' : 'are'} gone, and a copy cannot continue without ${missing.length === 1 ? 'it' : 'them'}. ` +
      `Restore the tables from a backup; or drop "${prefix}listing_version" and all others that sync created, and run it again: it reads the whole feed.`,
  )
}
