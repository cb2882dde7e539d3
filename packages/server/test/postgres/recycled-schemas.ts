/**
 * Stores of tests on PostgreSQL, each in a schema of its own that is made once and emptied for the next test: to make a schema takes
 * PostgreSQL 100 ms of processor time, in more than twenty steps, and to empty one 10.
 */
import { catalogues } from '@property-events/protocol'
import { escapeIdentifier, escapeLiteral } from 'pg'
import type { Pool } from 'pg'
import { openStorage } from '../../src/storage/open-storage.ts'

export interface RecycledSchema {
  /** Leads to an empty store with default settings and an id of its own. */
  readonly url: string
  /** Nobody uses the store any more: another test may have the schema. */
  giveBack(): void
}

interface Made {
  readonly url: string
  /** The statements that make the store what it was when it was new, in one transaction, if only these tables have rows. */
  emptied(tables: readonly string[]): string
  /** Names the tables that have rows. */
  readonly findRows: string
}

/** `create`: the address of a new, empty schema. `admin`: sessions that may do anything there. */
export function recycledSchemas(admin: Pool, create: () => Promise<string>): () => Promise<RecycledSchema> {
  const free: Made[] = []
  const take = async (): Promise<Made> => {
    const used = free.pop()
    if (used === undefined) return makeStore(admin, await create())
    const { rows } = await admin.query<{ name: string }>(used.findRows)
    await admin.query(used.emptied(rows.map(({ name }) => name)))
    return used
  }
  return async () => {
    const made = await take()
    return { url: made.url, giveBack: () => void free.push(made) }
  }
}

async function makeStore(admin: Pool, url: string): Promise<Made> {
  const store = await openStorage({
    kind: 'postgres',
    url,
    readConnections: 1,
    create: true,
    catalogue: catalogues.default,
  })
  await store.close()
  const schema = /search_path=(\w+)$/.exec(new URL(url).searchParams.get('options') ?? '')?.[1] ?? ''
  const { rows: relations } = await admin.query<{ name: string; kind: string }>(
    `SELECT relname AS name, relkind AS kind FROM pg_class
    WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'S') ORDER BY relname`,
    [schema],
  )
  const place = (name: string): string => `${schema}.${escapeIdentifier(name)}`
  const tables = relations.filter(({ kind }) => kind === 'r').map(({ name }) => name)
  const sequences = relations.filter(({ kind }) => kind === 'S').map(({ name }) => name)
  const fills: string[] = []
  for (const table of tables) {
    const { rows } = await admin.query<{ text: string | null }>(
      `SELECT json_agg(each)::text AS text FROM ${place(table)} AS each`,
    )
    const text = rows[0]?.text
    if (typeof text !== 'string') continue
    fills.push(`INSERT INTO ${place(table)} OVERRIDING SYSTEM VALUE
      SELECT * FROM json_populate_recordset(NULL::${place(table)}, ${escapeLiteral(text)})`)
  }
  return {
    url,
    findRows: tables
      .map((name) => `SELECT ${escapeLiteral(name)} AS name WHERE EXISTS (SELECT FROM ${place(name)})`)
      .join(' UNION ALL '),
    emptied: (filled) =>
      [
        'BEGIN',
        // It is kept from being emptied, by its owner too.
        `ALTER TABLE ${place('audit')} DISABLE TRIGGER USER`,
        `TRUNCATE ${filled.map(place).join(', ')} CASCADE`,
        `ALTER TABLE ${place('audit')} ENABLE TRIGGER USER`,
        ...sequences.map((name) => `ALTER SEQUENCE ${place(name)} RESTART`),
        ...fills,
        `UPDATE ${place('store')} SET store_id = gen_random_uuid()`,
        'COMMIT',
      ].join(';\n'),
  }
}
