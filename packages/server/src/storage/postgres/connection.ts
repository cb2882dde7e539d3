/** Connections to the database: bounded pools, what each session is told, and how long anything may take. */
import { callbackify } from 'node:util'
import { Client, Pool } from 'pg'
import type { ClientConfig, Notification, PoolClient, QueryResultRow } from 'pg'
import { StorageFailure } from '../storage.ts'
import { isOfStatement } from './failure.ts'

/** A statement that every connection prepares once. Its values are `$1`, `$2`, … */
export interface Statement {
  /** Unique among all statements. */
  readonly name: string
  readonly text: string
}

export type Value = string | number | bigint | boolean | null | Uint8Array

/** Rows as node-postgres reads them: `bigint` columns as text, `bytea` as bytes. */
export type Row = QueryResultRow

export interface Session {
  /** The same object for as long as the connection lives. */
  readonly connection: object
  query<R extends Row>(statement: Statement, values: readonly Value[]): Promise<readonly R[]>
  /** Any number of commands, without values. For migrations. */
  script(text: string): Promise<void>
}

export interface Database {
  /** One statement on a connection for reading. Tried a second time if the connection turns out to be dead. */
  read<R extends Row>(statement: Statement, values: readonly Value[]): Promise<readonly R[]>
  /**
   * Runs on one connection for writing, outside a transaction. Never tried twice: what was sent may have happened. No lock is
   * waited for longer than `lockWaitMs`; left out: as long as a write may take.
   */
  write<T>(run: (session: Session) => Promise<T>, lockWaitMs?: number): Promise<T>
  /** Runs between BEGIN and COMMIT; rolls back when it rejects. */
  transaction<T>(run: (session: Session) => Promise<T>, lockWaitMs?: number): Promise<T>
  /** Runs on one connection without limits of time, outside a transaction: for migrations. */
  longSession<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** As `transaction`, on a connection without limits of time: copies take as long as they take. */
  longTransaction<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** Listens on a connection of its own until it breaks; resolves to what ends it. One that cannot listen is ended. */
  listen(channel: string, onMessage: (payload: string) => void, onEnd: () => void): Promise<() => void>
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly url: string
  /** Connections for reading; one more is for being told of changes. */
  readonly readConnections: number
  /** Connections for writing. 2 if left out. */
  readonly writeConnections?: number | undefined
  /** Reaching the server, or waiting for a free connection. 5 s if left out. */
  readonly connectTimeoutMs?: number | undefined
  /** How long a read may take: a few index probes, and at most some megabytes. 10 s if left out. */
  readonly readTimeoutMs?: number | undefined
  /** How long a commit may take, waiting for those of other nodes included. 30 s if left out. */
  readonly writeTimeoutMs?: number | undefined
  /** Called for each new connection before its first use; when it rejects, the connection is given up. */
  readonly onConnect?: ((session: Session, purpose: Purpose) => Promise<void>) | undefined
}

export type Purpose = 'reading' | 'writing'

/** How long a read may take, if nothing else is said. */
export const defaultReadTimeoutMs = 10_000

/** A node that vanishes while it holds a feed's counter gives it back after this time. */
const idleInTransactionMs = 5_000
const noLimit = 0

/**
 * Said once per connection. Every statement of ours is an index probe or a run through an index, so plans that suit
 * tables as small as they were when a plan was made are ruled out. A default of `synchronous_commit = off` would break
 * P7; a stricter one is the operator's to choose.
 */
const sessionSettings = `SELECT pg_is_in_recovery() AS standby,
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
  set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),
  set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('idle_in_transaction_session_timeout', $2, false),
  set_config('statement_timeout', $1, false), set_config('lock_timeout', '0', false),
  set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false)`

const setLockWait: Statement = {
  name: 'lock-wait',
  text: `SELECT set_config('lock_timeout', $1, false)`,
}

/** Said first in a transaction: what it reads is of one moment. */
export const oneSnapshot: Statement = {
  name: 'one-snapshot',
  text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY',
}

export function connect(options: ConnectionOptions): Database {
  const readers = poolOf(
    options,
    'reading',
    options.readConnections,
    options.readTimeoutMs ?? defaultReadTimeoutMs,
  )
  const writers = poolOf(options, 'writing', options.writeConnections ?? 2, options.writeTimeoutMs ?? 30_000)
  const copiers = poolOf(options, 'writing', 2, noLimit)
  /** What sessions were told last, where it is not what they began with. */
  const lockWaits = new WeakMap<PoolClient, number>()
  let closing: Promise<void> | undefined

  const on = async <T>(pool: Pool, run: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    let isUsable = true
    try {
      return await run(client)
    } catch (error) {
      // A connection on which something else failed is not used again: its state is not known.
      isUsable = isOfStatement(error)
      throw error
    } finally {
      client.release(!isUsable)
    }
  }
  /** Said only when it changes, which is seldom: the connection that was used last is used next. */
  const waitForLocks = async (client: PoolClient, lockWaitMs: number): Promise<void> => {
    if ((lockWaits.get(client) ?? noLimit) === lockWaitMs) return
    await client.query({ ...setLockWait, values: [String(lockWaitMs)] })
    lockWaits.set(client, lockWaitMs)
  }
  const transactionOn = <T>(
    pool: Pool,
    run: (session: Session) => Promise<T>,
    lockWaitMs = noLimit,
  ): Promise<T> =>
    on(pool, async (client) => {
      await waitForLocks(client, lockWaitMs)
      await client.query('BEGIN')
      try {
        const result = await run(sessionOf(client))
        await client.query('COMMIT')
        return result
      } catch (error) {
        if (isOfStatement(error)) await client.query('ROLLBACK')
        throw error
      }
    })

  return {
    async read<R extends Row>(statement: Statement, values: readonly Value[]): Promise<readonly R[]> {
      const ask = () => readers.query<R>({ ...statement, values: [...values] })
      const { rows } = await ask().catch((error: unknown) => {
        if (!isConnectionLoss(error)) throw error
        return ask()
      })
      return rows
    },
    write: (run, lockWaitMs = noLimit) =>
      on(writers, async (client) => {
        await waitForLocks(client, lockWaitMs)
        return run(sessionOf(client))
      }),
    transaction: (run, lockWaitMs) => transactionOn(writers, run, lockWaitMs),
    longSession: (run) => on(copiers, (client) => run(sessionOf(client))),
    longTransaction: (run) => transactionOn(copiers, run),
    async listen(channel, onMessage, onEnd) {
      const client = new Client(clientOptions(options, noLimit))
      const stop = (): void => void client.end().catch(() => undefined)
      client.on('error', onEnd)
      client.on('end', onEnd)
      client.on('notification', ({ payload }: Notification) => onMessage(payload ?? ''))
      try {
        await client.connect()
        await client.query(`LISTEN ${channel}`)
      } catch (error) {
        stop()
        throw error
      }
      return stop
    },
    close() {
      closing ??= Promise.all([readers.end(), writers.end(), copiers.end()]).then(() => undefined)
      return closing
    },
  }
}

function sessionOf(client: PoolClient): Session {
  return {
    connection: client,
    async query<R extends Row>(statement: Statement, values: readonly Value[]): Promise<readonly R[]> {
      const { rows } = await client.query<R>({ ...statement, values: [...values] })
      return rows
    },
    async script(text) {
      await client.query(text)
    },
  }
}

function clientOptions(options: ConnectionOptions, timeoutMs: number): ClientConfig {
  return {
    connectionString: options.url,
    application_name: 'property-events',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server's own limit comes first, so that it cleans up; this one is for a server that has gone silent.
    ...(timeoutMs === noLimit ? {} : { query_timeout: timeoutMs + 1_000 }),
  }
}

function poolOf(options: ConnectionOptions, purpose: Purpose, max: number, timeoutMs: number): Pool {
  const { onConnect } = options
  const pool = new Pool({
    ...clientOptions(options, timeoutMs),
    max,
    idleTimeoutMillis: 60_000,
    verify: callbackify(async (client: PoolClient) => {
      await prepareSession(client, timeoutMs)
      await onConnect?.(sessionOf(client), purpose)
    }),
  })
  // An idle connection that breaks is dropped by the pool; whoever asks next gets a new one, or an error of its own.
  pool.on('error', () => undefined)
  // One that breaks in use says so a second time here; its query has been rejected already.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

export const standbyText = 'the server is a standby, not the primary'

async function prepareSession(client: PoolClient, timeoutMs: number): Promise<void> {
  const idleMs = timeoutMs === noLimit ? noLimit : idleInTransactionMs
  const limits = [String(timeoutMs), String(idleMs)]
  const { rows } = await client.query<{ standby: boolean }>(sessionSettings, limits)
  if (rows[0]?.standby !== false) {
    // A standby may lag: what it answers could hide an event that was acknowledged (P8) or stamped (P3).
    throw new StorageFailure('storage_unavailable', new Error(standbyText))
  }
}

/** SQLSTATE classes of a server that is going down, coming up, or gone; the rest are node's and node-postgres' own. */
const lossCodes = /^(08|57P0[123]$|ECONN|EPIPE$|ENOENT$|ETIMEDOUT$|ENETUNREACH$|EHOSTUNREACH$|25006$)/
const lossTexts = /^(Connection terminated|Client has encountered a connection error)/

/** True when the connection was lost or refused, so that another one may do better. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return lossCodes.test(error.code)
  return lossTexts.test(error.message)
}
