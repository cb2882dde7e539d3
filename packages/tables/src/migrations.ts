/** The tables, from version to version. A migration is never edited once released: a change is another migration. */
import type { ColumnKind } from './columns.ts'
import type { TableNames } from './table-names.ts'

/** The words of an engine for each kind of column. */
export type ColumnTypes = Readonly<Record<ColumnKind, string>>

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
export const sqliteTypes: ColumnTypes = {
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

export interface Dialect {
  readonly types: ColumnTypes
  /** Text after the columns of a table. */
  readonly tableOptions: string
}

export const postgresDialect: Dialect = { types: postgresTypes, tableOptions: '' }
export const sqliteDialect: Dialect = { types: sqliteTypes, tableOptions: ' STRICT' }

export interface Migration {
  readonly version: number
  statements(names: TableNames, dialect: Dialect): readonly string[]
}

export const migrations: readonly Migration[] = [{ version: 1, statements: firstTables }]

function firstTables(names: TableNames, dialect: Dialect): readonly string[] {
  return [
    listingTable(names, dialect),
    ...furtherTables(names, dialect),
    ...syncTables(names, dialect),
    saleView(names),
    lettingView(names),
  ]
}

function listingTable(names: TableNames, { types, tableOptions }: Dialect): string {
  return `CREATE TABLE ${names.listings} (
${headColumns(types)}
${factColumns(types)}
${textColumns(types)}
  PRIMARY KEY (tenant, reference)
)${tableOptions}`
}

/** What a listing is and costs, and where it is. */
function headColumns(t: ColumnTypes): string {
  return `  tenant ${t.text} NOT NULL,
  reference ${t.text} NOT NULL,
  category ${t.text} NOT NULL,
  status_code ${t.integer},
  status ${t.text},
  is_available ${t.boolean} NOT NULL,
  type_code ${t.integer},
  type ${t.text},
  is_new_home ${t.boolean} NOT NULL,
  agent_reference ${t.text},
  branch_id ${t.text},
  price ${t.numeric},
  price_text ${t.text},
  price_qualifier_code ${t.integer},
  price_qualifier ${t.text},
  rent_frequency_code ${t.integer},
  rent_frequency ${t.text},
  rent_per_month ${t.numeric},
  deposit ${t.numeric},
  first_price ${t.numeric},
  last_price ${t.numeric},
  previous_price ${t.numeric},
  price_changed_at ${t.instant},
  display_address ${t.text},
  address_lines ${t.json} NOT NULL,
  town ${t.text},
  postcode ${t.text},
  latitude ${t.double},
  longitude ${t.double},`
}

/** What it is like, and when. */
function factColumns(t: ColumnTypes): string {
  return `  bedrooms ${t.integer},
  bathrooms ${t.integer},
  reception_rooms ${t.integer},
  tenure_code ${t.integer},
  tenure ${t.text},
  lease_years ${t.integer},
  furnished_code ${t.integer},
  furnished ${t.text},
  let_type_code ${t.integer},
  let_type ${t.text},
  council_tax_band ${t.text},
  energy_rating ${t.text},
  potential_energy_rating ${t.text},
  internal_area ${t.numeric},
  internal_area_unit ${t.text},
  land_area ${t.numeric},
  land_area_unit ${t.text},
  main_photograph ${t.text},
  main_photograph_caption ${t.text},
  photograph_count ${t.integer} NOT NULL,
  available_on ${t.day},
  added_on ${t.day},
  changed_on ${t.day},
  published_at ${t.instant},
  first_seen_at ${t.instant},
  sequence_number ${t.bigint} NOT NULL,
  event_id ${t.text} NOT NULL,`
}

/** Lists and long texts, last in a row. */
function textColumns(t: ColumnTypes): string {
  return `  features ${t.json} NOT NULL,
  rooms ${t.json} NOT NULL,
  parking ${t.json} NOT NULL,
  outside_space ${t.json} NOT NULL,
  heating ${t.json} NOT NULL,
  accessibility ${t.json} NOT NULL,
  missing ${t.json} NOT NULL,
  summary_text ${t.text} NOT NULL,
  summary_html ${t.text} NOT NULL,
  description_text ${t.text} NOT NULL,
  description_html ${t.text} NOT NULL,
  directions_text ${t.text} NOT NULL,
  payload ${t.json},`
}

function furtherTables(names: TableNames, { types: t, tableOptions }: Dialect): readonly string[] {
  return [
    `CREATE INDEX "${names.prefix}listings_by_reference" ON ${names.listings} (reference)`,
    `CREATE INDEX "${names.prefix}listings_by_price" ON ${names.listings} (category, price)`,
    `CREATE TABLE ${names.media} (
  tenant ${t.text} NOT NULL,
  reference ${t.text} NOT NULL,
  kind ${t.text} NOT NULL,
  position ${t.integer} NOT NULL,
  url ${t.text} NOT NULL,
  caption ${t.text} NOT NULL,
  type_code ${t.integer},
  type ${t.text},
  updated_at ${t.text},
  PRIMARY KEY (tenant, reference, kind, position)
)${tableOptions}`,
    `CREATE TABLE ${names.removed} (
  tenant ${t.text} NOT NULL,
  reference ${t.text} NOT NULL,
  removed_at ${t.instant} NOT NULL,
  reason_code ${t.text},
  reason ${t.text},
  is_erased ${t.boolean} NOT NULL,
  PRIMARY KEY (tenant, reference)
)${tableOptions}`,
    `CREATE INDEX "${names.prefix}listing_removed_by_reference" ON ${names.removed} (reference)`,
  ]
}

function syncTables(names: TableNames, { types: t, tableOptions }: Dialect): readonly string[] {
  return [
    `CREATE TABLE ${names.sync} (
  tenant ${t.text} NOT NULL PRIMARY KEY,
  checkpoint ${t.text} NOT NULL,
  writes ${t.bigint} NOT NULL,
  rows_version ${t.integer} NOT NULL,
  is_empty ${t.boolean} NOT NULL,
  changed_at ${t.instant} NOT NULL,
  caught_up_at ${t.instant}
)${tableOptions}`,
  ]
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
