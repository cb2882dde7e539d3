/** Tables in a PostgreSQL database. */
import { setTimeout as delay } from 'node:timers/promises'
import type { HeldSubject } from '@property-events/client'
import { Client } from 'pg'
import type { ClientConfig } from 'pg'
import { heldOf, lockedByAnother, TablesRefusal } from './listing-tables.ts'
import type { ListingTables } from './listing-tables.ts'
import { postgresDialect, prepareTables, versionQuery } from './schema.ts'
import type { SchemaSession } from './schema.ts'
import { configOf, openSession, postgresError } from './postgres-session.ts'
import type { PostgresSession } from './postgres-session.ts'
import { writeBatch } from './postgres-write.ts'
import { tableNames } from './table-names.ts'
import type { TableNames } from './table-names.ts'

/** So many are read at a time. */
const referencesAtOnce = 10_000

interface PostgresTarget {
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
    countOf: (tenant, references) =>
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

/** How long the session of a sync that was killed may still hold it. */
const retryForMs = 3_000
const pauseMs = 100

interface SessionLock {
  /** Takes the lock unless this process has it. Throws a `TablesRefusal` if another one does. */
  acquire(): Promise<void>
  release(): Promise<void>
}

/**
 * An advisory lock on a separate connection, so it ends with the process, however that ends. When the connection is lost, the next `acquire`
 * takes it again; what another sync wrote in between is noticed by its number (`writtenByAnother`).
 */
function sessionLock(config: ClientConfig, name: string, shown: string): SessionLock {
  let holder: Client | undefined
  let acquiring: Promise<void> | undefined

  async function connect(): Promise<void> {
    const client = new Client(config)
    const drop = (): void => {
      if (holder === client) holder = undefined
    }
    client.on('error', drop)
    client.on('end', drop)
    try {
      await client.connect()
      // The server notices within a minute that the machine of the holder has gone.
      await client.query(
        'SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3',
      )
      if (!(await tryLock(client, name))) throw lockedByAnother(shown)
      holder = client
    } catch (error) {
      await client.end().catch(() => undefined)
      throw postgresError(shown, error)
    }
  }

  return {
    async acquire() {
      if (holder !== undefined) return
      acquiring ??= connect().finally(() => (acquiring = undefined))
      await acquiring
    },
    async release() {
      await holder?.end()
    },
  }
}

async function tryLock(client: Client, name: string): Promise<boolean> {
  for (const endsAt = Date.now() + retryForMs; ; await delay(pauseMs)) {
    const { rows } = await client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
      [name],
    )
    if (rows[0]?.taken === true) return true
    if (Date.now() >= endsAt) return false
  }
}
