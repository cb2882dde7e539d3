/**
 * Stores of tests on PostgreSQL, each in a schema of its own that is made once and emptied for the next test: to make a schema takes
 * PostgreSQL 100 ms of processor time, in more than twenty steps, and to empty one 10.
 */
import { catalogues } from '@property-events/protocol'
import { escapeIdentifier, escapeLiteral } from 'pg'
import type { Pool } from 'pg'
import { openStorage } from '../../src/store/open-storage.ts'

export interface RecycledSchema {
  /** Leads to an empty store with default settings and an id of its own. */
  readonly url: string
  /** Nobody uses the store any more: another test may have the schema. */
  giveBack(): void
}

/** A store that was made to be emptied, and what stands in it when it is new. Kept as a comment on its schema. */
interface Made {
  readonly schema: string
  readonly tables: readonly string[]
  readonly sequences: readonly string[]
  /** The statements that put its first rows in. */
  readonly fills: readonly string[]
}

export interface SchemaPlace {
  /** Sessions that may do anything there. */
  readonly admin: Pool
  /** The name of a new, empty schema. */
  readonly create: () => Promise<string>
  readonly urlOf: (schema: string) => string
  /** Nobody else uses the database now, so stores that an earlier process has left there may be emptied, too. */
  readonly isOurs: boolean
}

export function recycledSchemas({
  admin,
  create,
  urlOf,
  isOurs,
}: SchemaPlace): () => Promise<RecycledSchema> {
  let free: Made[] | undefined
  const take = async (): Promise<Made> => {
    free ??= isOurs ? await leftStores(admin) : []
    const used = free.pop()
    if (used === undefined) {
      const schema = await create()
      return makeStore(admin, schema, urlOf(schema))
    }
    const { rows } = await admin.query<{ name: string }>(findRows(used))
    await admin.query(emptied(used, rows))
    return used
  }
  return async () => {
    const made = await take()
    return { url: urlOf(made.schema), giveBack: () => void free?.push(made) }
  }
}

async function leftStores(admin: Pool): Promise<Made[]> {
  const { rows } = await admin.query<{ made: string }>(
    `SELECT obj_description(oid, 'pg_namespace') AS made FROM pg_namespace
    WHERE nspname LIKE 'property_events_test_%' AND obj_description(oid, 'pg_namespace') IS NOT NULL`,
  )
  return rows.map(({ made }) => JSON.parse(made) as Made)
}

async function makeStore(admin: Pool, schema: string, url: string): Promise<Made> {
  const store = await openStorage({
    kind: 'postgres',
    url,
    readConnections: 1,
    create: true,
    catalogue: catalogues.default,
  })
  await store.close()
  const { rows: relations } = await admin.query<{ name: string; kind: string }>(
    `SELECT relname AS name, relkind AS kind FROM pg_class
    WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'S') ORDER BY relname`,
    [schema],
  )
  const tables = relations.filter(({ kind }) => kind === 'r').map(({ name }) => name)
  const sequences = relations.filter(({ kind }) => kind === 'S').map(({ name }) => name)
  const fills: string[] = []
  for (const table of tables) {
    const { rows } = await admin.query<{ text: string | null }>(
      `SELECT json_agg(each)::text AS text FROM ${place(schema, table)} AS each`,
    )
    const text = rows[0]?.text
    if (typeof text !== 'string') continue
    fills.push(`INSERT INTO ${place(schema, table)} OVERRIDING SYSTEM VALUE
      SELECT * FROM json_populate_recordset(NULL::${place(schema, table)}, ${escapeLiteral(text)})`)
  }
  const made = { schema, tables, sequences, fills }
  await admin.query(`COMMENT ON SCHEMA ${schema} IS ${escapeLiteral(JSON.stringify(made))}`)
  return made
}

/** Names the tables that have rows. */
function findRows({ schema, tables }: Made): string {
  return tables
    .map((name) => `SELECT ${escapeLiteral(name)} AS name WHERE EXISTS (SELECT FROM ${place(schema, name)})`)
    .join(' UNION ALL ')
}

/** The statements that make the store what it was when it was new, in one transaction, if only these tables have rows. */
function emptied({ schema, sequences, fills }: Made, filled: readonly { readonly name: string }[]): string {
  return [
    'BEGIN',
    // It is kept from being emptied, by its owner too.
    `ALTER TABLE ${place(schema, 'audit')} DISABLE TRIGGER USER`,
    `TRUNCATE ${filled.map(({ name }) => place(schema, name)).join(', ')} CASCADE`,
    `ALTER TABLE ${place(schema, 'audit')} ENABLE TRIGGER USER`,
    ...sequences.map((name) => `ALTER SEQUENCE ${place(schema, name)} RESTART`),
    ...fills,
    `UPDATE ${place(schema, 'store')} SET store_id = gen_random_uuid()`,
    'COMMIT',
  ].join(';\n')
}

function place(schema: string, name: string): string {
  return `${schema}.${escapeIdentifier(name)}`
}
