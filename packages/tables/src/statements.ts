/** Statements that both engines run unchanged, except for how rows are passed in. */
import { listingColumns, mediaColumns, removedColumns } from './columns.ts'
import type { TableNames } from './table-names.ts'

/**
 * Price history is kept by comparing a new row with the one that is there. It begins anew where figures cannot be
 * compared: a sale that becomes a letting, a rent that is paid weekly from now on. A price on application (no price)
 * changes nothing of it.
 */
const isSameKind = `(listing.category = excluded.category AND listing.rent_frequency_code IS NOT DISTINCT FROM excluded.rent_frequency_code)`
const isChanged = `(excluded.price IS NOT NULL AND listing.last_price IS NOT NULL AND listing.last_price <> excluded.price)`

const history: Readonly<Record<string, string>> = {
  first_price: `CASE WHEN ${isSameKind} THEN coalesce(listing.first_price, excluded.first_price) ELSE excluded.first_price END`,
  last_price: `CASE WHEN ${isSameKind} THEN coalesce(excluded.last_price, listing.last_price) ELSE excluded.last_price END`,
  previous_price: `CASE WHEN NOT ${isSameKind} THEN NULL WHEN ${isChanged} THEN listing.last_price ELSE listing.previous_price END`,
  price_changed_at: `CASE WHEN NOT ${isSameKind} THEN NULL WHEN ${isChanged} THEN excluded.published_at ELSE listing.price_changed_at END`,
}

const keys = new Set(['tenant', 'reference', 'kind', 'position'])

export interface Upsert {
  /** `INSERT INTO … (…)`, before the rows. */
  readonly insert: string
  /** The values of a row, in order, by column of the row that comes in. */
  readonly values: readonly string[]
  /** `ON CONFLICT …`, after the rows. */
  readonly onConflict: string
}

/** A listing, new or changed. */
export function listingUpsert(names: TableNames): Upsert {
  const columns = Object.keys(listingColumns)
  const set = columns.filter((column) => !keys.has(column)).map((column) => `${column} = excluded.${column}`)
  const historySet = Object.entries(history).map(([column, value]) => `${column} = ${value}`)
  return {
    insert: `INSERT INTO ${names.listings} AS listing (${[...columns, 'first_price', 'last_price', 'first_seen_at'].join(', ')})`,
    values: [...columns, 'price', 'price', 'published_at'],
    onConflict: `ON CONFLICT (tenant, reference) DO UPDATE SET ${[...set, ...historySet].join(', ')}`,
  }
}

/** A photograph or document in its place. One that is there already is not written again. */
export function mediaUpsert(names: TableNames): Upsert {
  const columns = Object.keys(mediaColumns)
  const changing = columns.filter((column) => !keys.has(column))
  const isOther = changing.map((column) => `medium.${column} IS DISTINCT FROM excluded.${column}`)
  return {
    insert: `INSERT INTO ${names.media} AS medium (${columns.join(', ')})`,
    values: columns,
    onConflict: `ON CONFLICT (tenant, reference, kind, position) DO UPDATE SET ${changing
      .map((column) => `${column} = excluded.${column}`)
      .join(', ')} WHERE ${isOther.join(' OR ')}`,
  }
}

export function removedUpsert(names: TableNames): Upsert {
  const columns = Object.keys(removedColumns)
  const changing = columns.filter((column) => !keys.has(column))
  return {
    insert: `INSERT INTO ${names.removed} (${columns.join(', ')})`,
    values: columns,
    onConflict: `ON CONFLICT (tenant, reference) DO UPDATE SET ${changing
      .map((column) => `${column} = excluded.${column}`)
      .join(', ')}`,
  }
}
