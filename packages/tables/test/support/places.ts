/** Where the tests have tables: a new SQLite file, or a new schema of a PostgreSQL, read as any other program would. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { sharedDatabases } from '../../../server/test/postgres/test-databases.ts'
import { listingColumns, mediaColumns, removedColumns } from '../../src/columns.ts'
import type { ColumnKind } from '../../src/columns.ts'

export const tableEngines = ['sqlite', 'postgres'] as const
export type TableEngine = (typeof tableEngines)[number]

export type Cell = string | number | boolean | null | object
export type Row = Readonly<Record<string, Cell>>

export interface TablePlace {
  readonly engine: TableEngine
  /** For `sync`. */
  readonly target: string
  /** SQLite: the file. */
  readonly file: string
  /** What a query gives, the same from both engines: JSON parsed, instants as ISO texts, booleans as such. */
  rows(query: string): Promise<readonly Row[]>
  /** Statements of another program. */
  run(statements: string): Promise<void>
  /** No sync has a session any more: PostgreSQL may still commit what a killed one has sent. */
  isLeft(): Promise<boolean>
  close(): Promise<void>
}

const kinds: Readonly<Record<string, ColumnKind>> = {
  ...listingColumns,
  ...mediaColumns,
  ...removedColumns,
  first_price: 'numeric',
  last_price: 'numeric',
  previous_price: 'numeric',
  price_changed_at: 'instant',
  first_seen_at: 'instant',
  caught_up_at: 'instant',
  changed_at: 'instant',
  is_empty: 'boolean',
  writes: 'bigint',
  rows_version: 'integer',
  version: 'integer',
  n: 'integer',
}

const numeric = new Set<ColumnKind | undefined>(['integer', 'bigint', 'numeric', 'double'])

function cellOf(column: string, value: unknown): Cell {
  if (value === null || value === undefined) return null
  const text = typeof value === 'number' ? String(value) : (value as string)
  const kind = kinds[column]
  if (numeric.has(kind)) return Number(text)
  if (kind === 'boolean') return text === '1' || text === 't'
  if (kind === 'instant') return new Date(text).toISOString()
  return kind === 'json' ? (JSON.parse(text) as object) : text
}

function rowOf(row: Readonly<Record<string, unknown>>): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, cellOf(column, value)]))
}

export function openPlace(engine: TableEngine): Promise<TablePlace> {
  return engine === 'sqlite' ? Promise.resolve(openSqlite()) : openPostgres()
}

function openSqlite(): TablePlace {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-tables-'))
  const file = join(folder, 'website.db')
  const withDatabase = <T>(run: (database: Database.Database) => T): T => {
    const database = new Database(file, { timeout: 10_000 })
    try {
      return run(database)
    } finally {
      database.close()
    }
  }
  return {
    engine: 'sqlite',
    target: `sqlite:${file}`,
    file,
    rows: async (query) => withDatabase((database) => database.prepare<[], Row>(query).all().map(rowOf)),
    run: async (statements) => withDatabase((database) => void database.exec(statements)),
    isLeft: async () => true,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function openPostgres(): Promise<TablePlace> {
  // A name of its own, by which the sessions of its syncs are known where others use the database too.
  const name = `tables-${randomUUID()}`
  const url = `${await (await sharedDatabases()).create()}&application_name=${name}`
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const types = { getTypeParser: () => (value: string) => value }
  return {
    engine: 'postgres',
    target: url,
    file: '',
    async rows(query) {
      const { rows } = await client.query<Record<string, unknown>>({ text: query, types })
      return rows.map(rowOf)
    },
    async run(statements) {
      await client.query(statements)
    },
    async isLeft() {
      const { rows } = await client.query(
        'SELECT FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
        [name],
      )
      return rows.length === 0
    },
    close: () => client.end(),
  }
}

/** All rows of listings, media and removed listings, in an order of their own. */
export async function tablesIn(place: Pick<TablePlace, 'rows'>, prefix = '') {
  const sorted = async (table: string, ...columns: readonly string[]): Promise<readonly Row[]> => {
    const keyOf = (row: Row) => JSON.stringify(columns.map((column) => row[column]))
    const rows = await place.rows(`SELECT * FROM ${prefix}${table}`)
    return rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  }
  return {
    listings: await sorted('listings', 'tenant', 'reference'),
    media: await sorted('listing_media', 'tenant', 'reference', 'kind', 'position'),
    removed: await sorted('listing_removed', 'tenant', 'reference'),
  }
}
