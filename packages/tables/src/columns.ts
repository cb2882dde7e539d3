/** The columns that rows are written to, with the kind of each. The tables themselves are made by `migrations.ts`. */

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

export const listingColumns = {
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
