/** What a store's schema is, as text: one that two schemas share if they are the same, whatever steps made them. */
import type Database from 'better-sqlite3'
import type { Client } from 'pg'

/** Tables, indexes and triggers as SQLite keeps them, without comments, in the order of their names. */
export function describeSqlite(db: Database.Database): string {
  const rows = db
    .prepare<[], { type: string; sql: string }>(
      `SELECT type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        ORDER BY tbl_name, type <> 'table', type, name`,
    )
    .all()
  return rows
    .map(({ type, sql }) => (type === 'table' ? `\n${withoutComments(sql)}` : oneLine(withoutComments(sql))))
    .join('\n')
    .trimStart()
    .concat('\n')
}

function withoutComments(sql: string): string {
  return sql
    .split('\n')
    .map((line) => line.replace(/\s*--.*$/, ''))
    .filter((line) => line.trim() !== '')
    .join('\n')
}

const oneLine = (sql: string): string => sql.replaceAll(/\s+/g, ' ')

/** The table of a row of the catalogues that belongs to the store's schema, and to no extension. */
const ours = (oid: string): string => `${oid} IN (
  SELECT c.oid FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'))`

/**
 * What stands in PostgreSQL's catalogues, one line each, in the order of the relations' names. How payloads are compressed is left out: it
 * depends on how the server was built. Functions are told apart by a hash of their bodies.
 */
const lines = `
  SELECT relation, rank, part, text FROM (
    SELECT c.relname AS relation, 0 AS rank, '' AS part,
      CASE c.relkind WHEN 'r' THEN 'TABLE ' WHEN 'v' THEN 'VIEW ' ELSE 'SEQUENCE ' END || c.relname
      || CASE c.relpersistence WHEN 'u' THEN ' UNLOGGED' ELSE '' END
      || coalesce(' WITH (' || array_to_string(array_remove(c.reloptions, 'toast_tuple_target=8160'), ', ') || ')', '')
      || CASE c.relkind WHEN 'v' THEN ' AS ' || pg_get_viewdef(c.oid) ELSE '' END AS text
    FROM pg_class c WHERE c.relkind IN ('r', 'v', 'S') AND ${ours('c.oid')}
    UNION ALL
    SELECT c.relname, 1, to_char(a.attnum, '0000'),
      '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || quote_ident(k.collname) ELSE '' END
      || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
      || CASE a.attidentity WHEN '' THEN '' ELSE ' GENERATED ' || a.attidentity::text END
      || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
      || CASE WHEN a.attstorage <> t.typstorage THEN ' STORAGE ' || a.attstorage::text ELSE '' END
      || CASE WHEN a.attstattarget = 0 THEN ' STATISTICS 0' ELSE '' END
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation k ON k.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relkind = 'r' AND ${ours('c.oid')}
    UNION ALL
    SELECT c.relname, 2, k.conname, '  ' || pg_get_constraintdef(k.oid)
    FROM pg_class c JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype IN ('p', 'u', 'f', 'c') WHERE ${ours('c.oid')}
    UNION ALL
    SELECT c.relname, 3, i.indexrelid::regclass::text, '  ' || pg_get_indexdef(i.indexrelid)
    FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid WHERE ${ours('c.oid')}
      AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)
    UNION ALL
    SELECT c.relname, 4, t.tgname, '  ' || pg_get_triggerdef(t.oid)
    FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid WHERE NOT t.tgisinternal AND ${ours('c.oid')}
    UNION ALL
    SELECT '~' || p.proname, 5, pg_get_function_identity_arguments(p.oid),
      'FUNCTION ' || p.proname || '(' || pg_get_function_arguments(p.oid) || ') RETURNS ' || pg_get_function_result(p.oid)
      || CASE p.provolatile WHEN 'i' THEN ' IMMUTABLE' WHEN 's' THEN ' STABLE' ELSE '' END
      || CASE WHEN p.prosecdef THEN ' SECURITY DEFINER' ELSE '' END
      || coalesce(' SET ' || array_to_string(p.proconfig, ' SET '), '')
      || ' AS ' || md5(p.prosrc)
    FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  ) AS each ORDER BY relation COLLATE "C", rank, part COLLATE "C"`

export async function describePostgres(client: Client): Promise<string> {
  const { rows } = await client.query<{ text: string; schema: string; rank: number }>(
    `SELECT each.*, current_schema() AS schema FROM (${lines}) AS each`,
  )
  return rows
    .map(({ rank, text, schema }) => {
      const line = text.trimEnd().replaceAll(/(?<=\S)\s+/g, ' ')
      return (rank === 0 ? '\n' : '') + line.replaceAll(`${schema}.`, '').replaceAll(schema, 'SCHEMA')
    })
    .join('\n')
    .trimStart()
    .concat('\n')
}
