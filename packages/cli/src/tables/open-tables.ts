/** Opens the tables of a target, whatever engine they are in. An engine is loaded when it is used. */
import type { ListingTables } from './listing-tables.ts'
import { shownTarget } from './target.ts'
import type { TableTarget } from './target.ts'

export interface TablesOptions {
  /** Begins every name; may be empty. */
  readonly prefix: string
  /** PostgreSQL alone. */
  readonly schema: string | undefined
}

/**
 * Makes the tables where there are none, brings older ones up to date, and locks them for this process. Throws a `Refusal`
 * when another sync writes to them, and when there are tables of these names that are somebody else's.
 */
export async function openTables(
  target: TableTarget,
  { prefix, schema }: TablesOptions,
): Promise<ListingTables> {
  if (target.kind === 'sqlite') {
    const { openSqliteTables } = await import('./sqlite-tables.ts')
    return openSqliteTables(target.file, prefix)
  }
  const { openPostgresTables } = await import('./postgres-tables.ts')
  return openPostgresTables({ url: target.url, shown: shownTarget(target), prefix, schema })
}
