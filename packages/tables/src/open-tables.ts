/** Opens the tables of a target, in any engine. An engine is loaded on demand. */
import { plainText } from '@property-events/protocol'
import type { ListingTables } from './listing-tables.ts'
import { TablesRefusal } from './listing-tables.ts'

export interface TablesOptions {
  /** Begins every name; may be empty. */
  readonly prefix: string
  /** PostgreSQL only. */
  readonly schema: string | undefined
}

/**
 * Creates the tables if there are none, and locks them for this process. Throws a `TablesRefusal` if another sync
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

export type TableTarget =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** `undefined`: the target is a folder or a file. Throws a `TablesRefusal` for one that begins as tables do and names none. */
export function readTableTarget(target: string): TableTarget | undefined {
  if (target.startsWith('sqlite:')) {
    const file = target.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
    if (file !== '' && !file.endsWith('/') && !file.startsWith('//') && !file.includes('\0')) {
      return { kind: 'sqlite', file }
    }
    throw new TablesRefusal('After sqlite: comes the file of the database, such as sqlite:website.db.')
  }
  if (!/^postgres(ql)?:/.test(target)) return undefined
  if (/^postgres(ql)?:\/\/\S*$/.test(target) && URL.canParse(target)) return { kind: 'postgres', url: target }
  throw new TablesRefusal(
    'The address of a database looks like postgres://user@host:5432/database; characters such as @ and / in a password are written as %40 and %2F.',
  )
}

/** The target for messages: without user, password and parameters. */
function shownTarget(target: TableTarget): string {
  if (target.kind === 'sqlite') return plainText(target.file)
  const { host, pathname } = new URL(target.url)
  return plainText(`postgres://${host}${pathname}`)
}
