/** Opens the tables of a target, in any engine. An engine is loaded on demand. */
import type { ListingTables } from './listing-tables.ts'
import { shownTarget } from './target.ts'
import type { TableTarget } from './target.ts'

export interface TablesOptions {
  /** Begins every name; may be empty. */
  readonly prefix: string
  /** PostgreSQL only. */
  readonly schema: string | undefined
}

/**
 * Creates the tables if there are none, brings older ones up to date, and locks them for this process. Throws a `TablesRefusal` if another sync
 * writes to them, and if there are tables of these names that belong to somebody else.
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
