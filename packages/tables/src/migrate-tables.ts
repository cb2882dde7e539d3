/** Brings a set of tables to the version that this program knows. Creates and changes its own tables, and no others. */
import { plainText } from '@property-events/protocol'
import { TablesRefusal } from './refusal.ts'
import type { Dialect, Migration } from './migrations.ts'
import type { TableNames } from './table-names.ts'

/** What an engine does for migrations. Synchronous engines may answer at once. */
export interface SchemaSession {
  /** Which of these tables and views exist. */
  existing(names: readonly string[]): Promise<readonly string[]>
  /** The recorded version; `undefined`: the table holds none of ours, or has another form. */
  version(): Promise<number | undefined>
  /** All statements in one transaction. */
  transaction(statements: readonly string[]): Promise<void>
}

export interface MigrationRun {
  readonly names: TableNames
  readonly dialect: Dialect
  readonly migrations: readonly Migration[]
}

/** Throws a `TablesRefusal` for tables that are not ours, that a newer version made, or some of which are missing. */
export async function migrateTables(session: SchemaSession, run: MigrationRun): Promise<void> {
  const { names, dialect, migrations } = run
  const [versionTable = ''] = names.all
  const existing = await session.existing(names.all)
  const latest = migrations.at(-1)?.version ?? 0
  let version = 0
  if (existing.includes(versionTable)) {
    const found = await session.version()
    if (found === undefined) throw notOurs(versionTable)
    if (found > latest) throw newer(found, latest)
    const missing = names.all.filter((name) => !existing.includes(name))
    if (missing.length > 0) throw incomplete(missing, names)
    version = found
  } else if (existing[0] !== undefined) throw notOurs(existing[0])
  for (const migration of migrations.filter((one) => one.version > version)) {
    const note =
      version === 0
        ? [
            `CREATE TABLE ${names.version} (program ${dialect.types.text} NOT NULL PRIMARY KEY, version ${dialect.types.integer} NOT NULL)${dialect.tableOptions}`,
            `INSERT INTO ${names.version} VALUES ('${programMark}', ${migration.version})`,
          ]
        : [`UPDATE ${names.version} SET version = ${migration.version}`]
    await session.transaction([...migration.statements(names, dialect), ...note])
    version = migration.version
  }
}

/** Marks our table of the version, so that somebody else's table of the same name is not taken for it. */
export const programMark = 'property-events sync'

export function versionQuery(names: TableNames): string {
  return `SELECT version FROM ${names.version} WHERE program = '${programMark}'`
}

function notOurs(table: string): TablesRefusal {
  return new TablesRefusal(
    `The database has "${plainText(table)}", which sync did not make, and sync never changes such tables. ` +
      'Choose other names, such as --prefix feed_ for feed_listings.',
  )
}

function newer(found: number, latest: number): TablesRefusal {
  return new TablesRefusal(
    `The tables have version ${found}, made by a newer property-events; this one knows versions up to ${latest}. ` +
      'Use that version, or other tables with --prefix.',
  )
}

function incomplete(missing: readonly string[], { prefix }: TableNames): TablesRefusal {
  return new TablesRefusal(
    `${missing.map((name) => `"${name}"`).join(', ')} ${missing.length === 1 ? 'is' : 'are'} gone, and a copy cannot continue without ${missing.length === 1 ? 'it' : 'them'}. ` +
      `Restore the tables from a backup; or drop "${prefix}listing_version" and all others that sync made, and run it again: it reads the whole feed.`,
  )
}
