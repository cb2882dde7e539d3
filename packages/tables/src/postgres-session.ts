/** Connections to the database of the tables. */
import { DatabaseError, Pool } from 'pg'
import type { ClientConfig, PoolClient, QueryResultRow } from 'pg'
import { postgresError } from './postgres-failure.ts'

/** A statement of a large batch takes seconds; one that takes longer is stuck, for example on a forgotten lock. */
const statementMs = 300_000
/** Batches of several tenants are written at the same time; with more connections the database gets no faster. */
const maxConnections = 4

export type Query = (text: string, values?: readonly unknown[]) => Promise<QueryOutcome>

export interface QueryOutcome {
  readonly rows: readonly QueryResultRow[]
  /** Rows that were written. */
  readonly changed: number
}

export interface PostgresSession {
  readonly query: Query
  transaction<T>(run: (query: Query) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export function configOf(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: 'property-events sync',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
}

/** `shown`: the target in messages. Errors become `TablesRefusal`s and `TablesAway`s if there is something to do. */
export function openSession(config: ClientConfig, shown: string): PostgresSession {
  // The server's own limit comes first, so that it cleans up; this one is for a server that has gone silent.
  const pool = new Pool({ ...config, query_timeout: statementMs + 10_000, max: maxConnections })
  // An idle connection that breaks is dropped by the pool; the next query gets a new one, or an error of its own.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const withClient = async <T>(run: (client: PoolClient) => Promise<T>): Promise<T> => {
    try {
      const client = await pool.connect()
      let isUsable = true
      try {
        return await run(client)
      } catch (error) {
        isUsable = error instanceof DatabaseError
        throw error
      } finally {
        client.release(!isUsable)
      }
    } catch (error) {
      throw postgresError(shown, error)
    }
  }
  return {
    query: (text, values) => withClient((client) => queryOf(client)(text, values)),
    transaction: (run) => withClient((client) => inTransaction(client, run)),
    close: () => pool.end(),
  }
}

function queryOf(client: PoolClient): Query {
  return async (text, values = []) => {
    const { rows, rowCount } = await client.query<QueryResultRow>(text, [...values])
    return { rows, changed: rowCount ?? 0 }
  }
}

async function inTransaction<T>(client: PoolClient, run: (query: Query) => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    await client.query(`SET LOCAL statement_timeout = ${statementMs}`)
    const result = await run(queryOf(client))
    await client.query('COMMIT')
    return result
  } catch (error) {
    // A lost connection has nothing to roll back; the error says what happened first.
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}
