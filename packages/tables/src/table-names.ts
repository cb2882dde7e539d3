/** Names of the tables, with the prefix and the schema that the operator chose. */
import { plainText } from '@property-events/protocol'
import { TablesRefusal } from './listing-tables.ts'

/** Our names without prefix, the one of the version first. Indexes are named after their tables. */
const own = {
  version: 'listing_version',
  listings: 'listings',
  media: 'listing_media',
  removed: 'listing_removed',
  sync: 'listing_sync',
  forSale: 'for_sale',
  toLet: 'to_let',
} as const

type OwnName = keyof typeof own

export interface TableNames extends Readonly<Record<OwnName, string>> {
  /** Begins every name. */
  readonly prefix: string
  /** PostgreSQL: the schema, where one was found or named. */
  readonly schema: string | undefined
  /** Every name as the database lists it: with the prefix, without schema and quotes. */
  readonly all: readonly string[]
}

/** Names for statements, quoted. */
export function tableNames(prefix: string, schema?: string): TableNames {
  const named = (name: string) => `${schema === undefined ? '' : `"${schema}".`}"${prefix}${name}"`
  return {
    prefix,
    schema,
    all: Object.values(own).map((name) => prefix + name),
    version: named(own.version),
    listings: named(own.listings),
    media: named(own.media),
    removed: named(own.removed),
    sync: named(own.sync),
    forSale: named(own.forSale),
    toLet: named(own.toLet),
  }
}

/** Throws a `TablesRefusal` for a prefix or a schema that would have to be quoted in every query. */
export function checkName(option: '--prefix' | '--schema', name: string): string {
  if (/^[a-z_][a-z0-9_]{0,29}$/.test(name)) return name
  throw new TablesRefusal(
    `${option} is "${plainText(name.slice(0, 100))}", but must be 1 to 30 lower-case letters, digits and _, beginning with a letter or _.`,
  )
}
