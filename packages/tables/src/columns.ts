/** The columns of the tables, with the kind of each. `schema.ts` creates the tables. */

/** `json`: jsonb in PostgreSQL, JSON text in SQLite. `instant`: UTC. `day`: `YYYY-MM-DD`. */
export type ColumnKind =
  | 'text'
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'double'
  | 'boolean'
  | 'day'
  | 'instant'
  | 'json'

/** What a listing is and costs. */
const offerColumns = {
  tenant: 'text',
  reference: 'text',
  category: 'text',
  status_code: 'integer',
  status: 'text',
  is_available: 'boolean',
  type_code: 'integer',
  type: 'text',
  is_new_home: 'boolean',
  agent_reference: 'text',
  branch_id: 'text',
  price: 'numeric',
  price_text: 'text',
  price_qualifier_code: 'integer',
  price_qualifier: 'text',
  rent_frequency_code: 'integer',
  rent_frequency: 'text',
  rent_per_month: 'numeric',
  deposit: 'numeric',
} as const satisfies Readonly<Record<string, ColumnKind>>

/** Kept by the tables: no event has them. */
const historyColumns = {
  first_price: 'numeric',
  last_price: 'numeric',
  previous_price: 'numeric',
  price_changed_at: 'instant',
  first_seen_at: 'instant',
} as const satisfies Readonly<Record<string, ColumnKind>>

/** Where it is and what it is like; lists and long texts are last in a row. */
const detailColumns = {
  display_address: 'text',
  address_lines: 'json',
  town: 'text',
  postcode: 'text',
  latitude: 'double',
  longitude: 'double',
  bedrooms: 'integer',
  bathrooms: 'integer',
  reception_rooms: 'integer',
  tenure_code: 'integer',
  tenure: 'text',
  lease_years: 'integer',
  furnished_code: 'integer',
  furnished: 'text',
  let_type_code: 'integer',
  let_type: 'text',
  council_tax_band: 'text',
  energy_rating: 'text',
  potential_energy_rating: 'text',
  internal_area: 'numeric',
  internal_area_unit: 'text',
  land_area: 'numeric',
  land_area_unit: 'text',
  main_photograph: 'text',
  main_photograph_caption: 'text',
  photograph_count: 'integer',
  available_on: 'day',
  added_on: 'day',
  changed_on: 'day',
  published_at: 'instant',
  sequence_number: 'bigint',
  event_id: 'text',
  features: 'json',
  rooms: 'json',
  parking: 'json',
  outside_space: 'json',
  heating: 'json',
  accessibility: 'json',
  missing: 'json',
  summary_text: 'text',
  summary_html: 'text',
  description_text: 'text',
  description_html: 'text',
  directions_text: 'text',
  payload: 'json',
} as const satisfies Readonly<Record<string, ColumnKind>>

/** What a row is written with. */
export const listingColumns = { ...offerColumns, ...detailColumns } as const

/** In the order of the table. */
export const listingTableColumns = { ...offerColumns, ...historyColumns, ...detailColumns } as const

export const mediaColumns = {
  tenant: 'text',
  reference: 'text',
  kind: 'text',
  position: 'integer',
  url: 'text',
  caption: 'text',
  type_code: 'integer',
  type: 'text',
  updated_at: 'text',
} as const satisfies Readonly<Record<string, ColumnKind>>

export const removedColumns = {
  tenant: 'text',
  reference: 'text',
  removed_at: 'instant',
  reason_code: 'text',
  reason: 'text',
  is_erased: 'boolean',
} as const satisfies Readonly<Record<string, ColumnKind>>

/** Columns that always have a value. */
export const requiredColumns: ReadonlySet<string> = new Set([
  'tenant',
  'reference',
  'category',
  'is_available',
  'is_new_home',
  'address_lines',
  'photograph_count',
  'sequence_number',
  'event_id',
  'features',
  'rooms',
  'parking',
  'outside_space',
  'heating',
  'accessibility',
  'missing',
  'summary_text',
  'summary_html',
  'description_text',
  'description_html',
  'directions_text',
  'kind',
  'position',
  'url',
  'caption',
  'removed_at',
  'is_erased',
])
