/** The database as statements use it: which connection each runs on, in which transaction, and what is retried. */
import type { PoolClient } from 'pg'
import type { PoolState } from '../store-observer.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { isOfStatement } from './failure.ts'
import type { ConnectionOptions } from './pool.ts'
import type { Row, Session, Statement, Value } from './session.ts'
import { typesOf } from './long-rows.ts'
import { createReadLines, defaultConnectTimeoutMs } from './read-lines.ts'
import { listenOn, noLimit, poolOf, poolState, sessionOf, waitForLocks, withClient } from './pool.ts'

export interface Database {
  /**
   * One statement on a connection for reading. It is retried once if the connection turns out to be dead. `line`: whose turn it takes if
   * all of them are in use (read-lines.ts), usually a tenant. Left out: the turn of all reads with this statement.
   */
  read<R extends Row>(statement: Statement, values: readonly Value[], line?: string): Promise<readonly R[]>
  /**
   * Runs on one connection for writing, outside a transaction. It is never retried: what was sent may have happened. It waits for no lock
   * longer than `lockWaitMs`; left out: as long as a write may take.
   */
  write<T>(run: (session: Session) => Promise<T>, lockWaitMs?: number): Promise<T>
  /** Runs between BEGIN and COMMIT; rolls back when it rejects. */
  transaction<T>(run: (session: Session) => Promise<T>, lockWaitMs?: number): Promise<T>
  /** Runs on one connection without time limits, outside a transaction: for migrations. */
  longSession<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** Like `transaction`, on a connection without time limits: copies take as long as they need. */
  longTransaction<T>(run: (session: Session) => Promise<T>): Promise<T>
  /** Listens on a separate connection until it breaks; resolves to a function that ends it. A connection that cannot listen is ended. */
  listen(channel: string, onMessage: (payload: string) => void, onEnd: () => void): Promise<() => void>
  /** The present state of the pools. */
  connections(): readonly PoolState[]
  close(): Promise<void>
}

/** Where statements that only read run. */
export type Reads = Pick<Database, 'read'>

/** Reads that take the turns of a tenant. */
export function readsOf(database: Reads, { tenantId }: Pick<FeedKey, 'tenantId'>): Reads {
  return { read: (statement, values) => database.read(statement, values, tenantId) }
}

/** How long a read may take by default. */
export const defaultReadTimeoutMs = 10_000

/** Sent first in a transaction: everything it reads comes from one moment. */
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
  const { observer } = options
  const write = <T>(run: (client: PoolClient) => Promise<T>): Promise<T> =>
    withClient(writers, run, (ms) => observer?.waited('writing', ms))
  const lines = createReadLines(options.readConnections, options.connectTimeoutMs ?? defaultConnectTimeoutMs)
  let closing: Promise<void> | undefined

  return {
    async read<R extends Row>(
      statement: Statement,
      values: readonly Value[],
      line = statement.name,
    ): Promise<readonly R[]> {
      const { name, text } = statement
      const types = typesOf(statement)
      const ask = (client: PoolClient) => client.query<R>({ name, text, types, values: [...values] })
      const askedMs = performance.now()
      const read = (fromMs: number) =>
        withClient(readers, ask, () => observer?.waited('reading', performance.now() - fromMs))
      const { rows } = await lines.run(line, () =>
        read(askedMs).catch((error: unknown) => {
          if (!isConnectionLoss(error)) throw error
          observer?.retried('read', 'connection_lost')
          return read(performance.now())
        }),
      )
      return rows
    },
    write: (run, lockWaitMs = noLimit) =>
      write(async (client) => {
        await waitForLocks(client, lockWaitMs)
        return run(sessionOf(client))
      }),
    transaction: (run, lockWaitMs) => write((client) => inTransaction(client, run, lockWaitMs)),
    longSession: (run) => withClient(copiers, (client) => run(sessionOf(client))),
    longTransaction: (run) => withClient(copiers, (client) => inTransaction(client, run)),
    listen: (channel, onMessage, onEnd) => listenOn(options, channel, onMessage, onEnd),
    connections: () => [
      { ...poolState('reading', readers), waiting: readers.waitingCount + lines.waiting() },
      poolState('writing', writers),
      poolState('copying', copiers),
    ],
    close() {
      closing ??= Promise.all([readers.end(), writers.end(), copiers.end()]).then(() => undefined)
      return closing
    },
  }
}

async function inTransaction<T>(
  client: PoolClient,
  run: (session: Session) => Promise<T>,
  lockWaitMs = noLimit,
): Promise<T> {
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
}

/** SQLSTATE classes of a server that is going down, coming up, or gone; the rest are from Node and node-postgres. */
const lossCodes = /^(08|57P0[123]$|ECONN|EPIPE$|ENOENT$|ETIMEDOUT$|ENETUNREACH$|EHOSTUNREACH$|25006$)/
const lossTexts = /^(Connection terminated|Client has encountered a connection error)/

/** True if the connection was lost or refused, so that another one may do better. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return lossCodes.test(error.code)
  return lossTexts.test(error.message)
}
