/** Connections to the database: bounded pools, session settings, and time limits. */
import { callbackify } from 'node:util'
import { Client, Pool } from 'pg'
import type { ClientConfig, Notification, PoolClient } from 'pg'
import { StorageFailure } from '../storage-errors.ts'
import type { PoolState, StoreObserver } from '../store-observer.ts'
import { defaultConnectTimeoutMs } from './read-lines.ts'
import type { Row, Session, Statement, Value } from './session.ts'
import { isOfStatement } from './failure.ts'
import { sendLongParameters } from './long-parameters.ts'
import { gatherLongRows, textsAsTexts, typesOf } from './long-rows.ts'

export interface ConnectionOptions {
  readonly url: string
  /** Connections for reading; one more listens for changes. */
  readonly readConnections: number
  /** Connections for writing. 2 if left out. */
  readonly writeConnections?: number | undefined
  /** Reaching the server, or waiting for a free connection. 5 s if left out. */
  readonly connectTimeoutMs?: number | undefined
  /** How long a read may take: a few index probes, and at most some megabytes. 10 s if left out. */
  readonly readTimeoutMs?: number | undefined
  /** How long a commit may take, waiting for those of other nodes included. 30 s if left out. */
  readonly writeTimeoutMs?: number | undefined
  /** Called with waits for a connection, and for reads that are retried. */
  readonly observer?: Pick<StoreObserver, 'waited' | 'retried'> | undefined
  /** Called for each new connection before its first use; if it rejects, the connection is given up. */
  readonly onConnect?: ((session: Session, purpose: Purpose) => Promise<void>) | undefined
}

type Purpose = 'reading' | 'writing'

/** A node that vanishes while it holds a feed's counter releases it after this time. */
const idleInTransactionMs = 5_000
/** No time limit. */
export const noLimit = 0
/**
 * Sent once per connection. Each of our statements is an index probe or a run through an index, so this rules out plans that suit tables
 * as small as they were when a plan was made. A default of `synchronous_commit = off` would break P7; a stricter one is the operator's
 * choice.
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

/** Runs on a connection of the pool. `onConnected`: called with the time it took to get one, even in vain. */
export async function withClient<T>(
  pool: Pool,
  run: (client: PoolClient) => Promise<T>,
  onConnected: (waitedMs: number) => void = () => undefined,
): Promise<T> {
  const askedMs = performance.now()
  const client = await pool.connect().finally(() => onConnected(performance.now() - askedMs))
  let isUsable = true
  try {
    return await run(client)
  } catch (error) {
    // A connection on which something else failed is not reused, because its state is unknown.
    isUsable = isOfStatement(error)
    throw error
  } finally {
    client.release(!isUsable)
  }
}

/** The last setting of each session, if it differs from the first. */
const lockWaits = new WeakMap<PoolClient, number>()

/** Sent only when it changes, which is rare: the connection that was used last is used next. */
export async function waitForLocks(client: PoolClient, lockWaitMs: number): Promise<void> {
  if ((lockWaits.get(client) ?? noLimit) === lockWaitMs) return
  await client.query({ ...setLockWait, values: [String(lockWaitMs)] })
  lockWaits.set(client, lockWaitMs)
}
export function sessionOf(client: PoolClient): Session {
  return {
    connection: client,
    async query<R extends Row>(statement: Statement, values: readonly Value[]): Promise<readonly R[]> {
      const { name, text, numbers } = statement
      const types = numbers === true ? { types: typesOf({ numbers }) } : {}
      const { rows } = await client.query<R>({ name, text, ...types, values: [...values] })
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
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server's own limit comes first, so that it cleans up; this one is for a server that has gone silent.
    ...(timeoutMs === noLimit ? {} : { query_timeout: timeoutMs + 1_000 }),
  }
}

class ReadingClient extends Client {
  constructor(config: ClientConfig = {}) {
    super({ ...config, types: textsAsTexts })
    gatherLongRows(this)
  }
}

class WritingClient extends Client {
  constructor(config?: ClientConfig) {
    super(config)
    sendLongParameters(this)
  }
}

export function poolOf(options: ConnectionOptions, purpose: Purpose, max: number, timeoutMs: number): Pool {
  const { onConnect } = options
  const pool = new Pool({
    ...clientOptions(options, timeoutMs),
    Client: purpose === 'reading' ? ReadingClient : WritingClient,
    max,
    idleTimeoutMillis: 60_000,
    verify: callbackify(async (client: PoolClient) => {
      await prepareSession(client, timeoutMs)
      await onConnect?.(sessionOf(client), purpose)
    }),
  })
  // An idle connection that breaks is dropped by the pool; the next query gets a new one, or an error of its own.
  pool.on('error', () => undefined)
  // A connection that breaks in use reports it a second time here; its query has been rejected already.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

export function poolState(pool: PoolState['pool'], { totalCount, idleCount, waitingCount }: Pool): PoolState {
  return { pool, inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
}

export const standbyText = 'the server is a standby, not the primary'

async function prepareSession(client: PoolClient, timeoutMs: number): Promise<void> {
  const idleMs = timeoutMs === noLimit ? noLimit : idleInTransactionMs
  const limits = [String(timeoutMs), String(idleMs)]
  const { rows } = await client.query<{ standby: boolean }>(sessionSettings, limits)
  if (rows[0]?.standby !== false) {
    // A standby may lag: its answer could hide an event that was acknowledged (P8) or stamped (P3).
    throw new StorageFailure('storage_unavailable', new Error(standbyText))
  }
}

/** On a separate connection, as in `Database`. */
export async function listenOn(
  options: ConnectionOptions,
  channel: string,
  onMessage: (payload: string) => void,
  onEnd: () => void,
): Promise<() => void> {
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
}
