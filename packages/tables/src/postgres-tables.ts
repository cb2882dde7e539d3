/** Tables in a PostgreSQL database. */
import type { HeldSubject } from '@property-events/client'
import { TablesRefusal } from './refusal.ts'
import { heldOf } from './listing-tables.ts'
import type { ListingTables } from './listing-tables.ts'
import { postgresDialect, prepareTables, versionQuery } from './schema.ts'
import type { SchemaSession } from './schema.ts'
import { sessionLock } from './postgres-lock.ts'
import { configOf, openSession } from './postgres-session.ts'
import type { PostgresSession } from './postgres-session.ts'
import { writeBatch } from './postgres-write.ts'
import { tableNames } from './table-names.ts'
import type { TableNames } from './table-names.ts'

/** So many are read at a time. */
const referencesAtOnce = 10_000

export interface PostgresTarget {
  readonly url: string
  /** The address for messages. */
  readonly shown: string
  readonly prefix: string
  /** Made where it does not exist; left out: the first of the search path. */
  readonly schema: string | undefined
}

/** Connects, and takes the lock of the tables. Throws a `TablesRefusal` when another sync has it. */
export async function openPostgresTables({
  url,
  shown,
  prefix,
  schema,
}: PostgresTarget): Promise<ListingTables> {
  const config = configOf(url)
  const session = openSession(config, shown)
  try {
    const names = tableNames(prefix, await schemaOf(session, schema))
    const lock = sessionLock(config, `property-events sync ${names.listings}`, shown)
    await lock.acquire()
    try {
      await prepareTables(schemaSession(session, names), names, postgresDialect)
      return tablesOf(session, names, lock)
    } catch (error) {
      await lock.release()
      throw error
    }
  } catch (error) {
    await session.close()
    throw error
  }
}

function tablesOf(
  session: PostgresSession,
  names: TableNames,
  lock: ReturnType<typeof sessionLock>,
): ListingTables {
  /** Of each tenant, as it was loaded or written last. */
  const writes = new Map<string, number>()
  const { listings, sync } = names
  return {
    async load(tenant) {
      await lock.acquire()
      const { rows } = await session.query(
        `SELECT checkpoint, writes, rows_version,
          NOT is_empty AND NOT EXISTS (SELECT FROM ${listings} WHERE tenant = $1) AS is_lost
        FROM ${sync} WHERE tenant = $1`,
        [tenant],
      )
      const [row] = rows
      writes.set(tenant, Number(row?.['writes'] ?? 0))
      if (row === undefined) return undefined
      return {
        checkpoint: JSON.parse(String(row['checkpoint'])),
        rowsVersion: Number(row['rows_version']),
        isLost: row['is_lost'] === true,
      }
    },
    async write(batch) {
      await lock.acquire()
      const before = writes.get(batch.tenant) ?? 0
      await session.transaction((query) => writeBatch(query, names, batch, before))
      writes.set(batch.tenant, before + 1)
    },
    async recordCaughtUp(tenant, nowMs) {
      await session.query(`UPDATE ${sync} SET caught_up_at = $2 WHERE tenant = $1`, [
        tenant,
        new Date(nowMs).toISOString(),
      ])
    },
    count: (tenant) => countOf(session, `SELECT count(*) AS n FROM ${listings} WHERE tenant = $1`, [tenant]),
    holds: (tenant, references) =>
      countOf(session, `SELECT count(*) AS n FROM ${listings} WHERE tenant = $1 AND reference = ANY ($2)`, [
        tenant,
        references,
      ]),
    async *references(tenant) {
      for (let after = ''; ;) {
        const { rows } = await session.query(
          `SELECT reference FROM ${listings} WHERE tenant = $1 AND reference > $2 ORDER BY reference LIMIT ${referencesAtOnce}`,
          [tenant, after],
        )
        yield* rows.map((row) => String(row['reference']))
        if (rows.length < referencesAtOnce) return
        after = String(rows.at(-1)?.['reference'])
      }
    },
    held: (tenant) => heldIn(session, listings, tenant),
    async close() {
      await lock.release()
      await session.close()
    },
  }
}

async function* heldIn(
  session: PostgresSession,
  listings: string,
  tenant: string,
): AsyncGenerator<HeldSubject> {
  for (let after = ''; ;) {
    const { rows } = await session.query(
      `SELECT reference, sequence_number FROM ${listings} WHERE tenant = $1 AND reference > $2 ORDER BY reference LIMIT ${referencesAtOnce}`,
      [tenant, after],
    )
    yield* rows.map(heldOf)
    if (rows.length < referencesAtOnce) return
    after = String(rows.at(-1)?.['reference'])
  }
}

async function countOf(session: PostgresSession, text: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await session.query(text, values)
  return Number(rows[0]?.['n'] ?? 0)
}

async function schemaOf(session: PostgresSession, named: string | undefined): Promise<string> {
  if (named !== undefined) {
    const { rows } = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [named])
    // Only then: to make one takes a right that not everyone has who may use it.
    if (rows.length === 0) await session.query(`CREATE SCHEMA "${named}"`)
    return named
  }
  const { rows } = await session.query('SELECT current_schema() AS name')
  const name: unknown = rows[0]?.['name']
  if (typeof name === 'string') return name
  throw new TablesRefusal('The search path of this user names no schema that exists. Name one with --schema.')
}

function schemaSession(session: PostgresSession, { schema, all, ...names }: TableNames): SchemaSession {
  const [versionTable = ''] = all
  return {
    async existing(wanted) {
      const { rows } = await session.query(
        'SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE n.nspname = $1 AND relname = ANY ($2)',
        [schema, wanted],
      )
      return rows.map((row) => String(row['relname']))
    },
    async version() {
      const { rows: columns } = await session.query(
        'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2',
        [schema, versionTable],
      )
      const found = columns.map((row) => String(row['name']))
      if (!found.includes('program') || !found.includes('version')) return undefined
      const { rows } = await session.query(versionQuery({ ...names, schema, all }))
      const version: unknown = rows[0]?.['version']
      return typeof version === 'number' ? version : undefined
    },
    transaction: (statements) =>
      session.transaction(async (query) => {
        for (const statement of statements) await query(statement)
      }),
  }
}
