/** The rows of one schema in another one with the same tables, in place of `pg_dump` and `pg_restore`, which npm's PostgreSQL lacks. */
import { escapeIdentifier } from 'pg'
import type { Pool } from 'pg'

interface Relations {
  readonly tables: readonly string[]
  readonly sequences: readonly string[]
}

async function relationsOf(admin: Pool, schema: string): Promise<Relations> {
  const { rows } = await admin.query<{ name: string; kind: string }>(
    `SELECT relname AS name, relkind AS kind FROM pg_class
    WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'S') ORDER BY relname`,
    [schema],
  )
  const named = (wanted: string) =>
    rows.filter(({ kind }) => kind === wanted).map(({ name }) => escapeIdentifier(name))
  return { tables: named('r'), sequences: named('S') }
}

/** One state of the source, while it is in use. Triggers do nothing: they have done it in the source. Needs a superuser. */
export async function copyRows(admin: Pool, source: string, target: string): Promise<void> {
  const { tables, sequences } = await relationsOf(admin, source)
  await admin.query(
    [
      'BEGIN ISOLATION LEVEL REPEATABLE READ',
      'SET LOCAL session_replication_role = replica',
      ...tables.map((name) => `DELETE FROM ${target}.${name}`),
      ...tables.map(
        (name) => `INSERT INTO ${target}.${name} OVERRIDING SYSTEM VALUE SELECT * FROM ${source}.${name}`,
      ),
      ...sequences.map(
        (name) => `SELECT setval('${target}.${name}', last_value, is_called) FROM ${source}.${name}`,
      ),
      'COMMIT',
    ].join(';\n'),
  )
}

export async function textOfRows(admin: Pool, schema: string): Promise<Buffer> {
  const { tables } = await relationsOf(admin, schema)
  const rows = tables.map((name) => `SELECT each::text AS row FROM ${schema}.${name} AS each`)
  const found = await admin.query<{ row: string }>(rows.join(' UNION ALL '))
  return Buffer.from(found.rows.map(({ row }) => row).join('\n'))
}
