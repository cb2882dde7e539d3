/** Connections to the database of the tables. */
import { DatabaseError, Pool } from 'pg'
import type { ClientConfig, PoolClient, QueryResultRow } from 'pg'
import { plainText } from '@property-events/protocol'
import { TablesAway, TablesRefusal } from './listing-tables.ts'

/** A statement of a large batch takes seconds; one that takes longer is stuck, for example on a forgotten lock. */
const statementMs = 300_000
/** Batches of several tenants are written at the same time; with more connections the database gets no faster. */
const maxConnections = 4

export type Query = (text: string, values?: readonly unknown[]) => Promise<QueryOutcome>

interface QueryOutcome {
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

/** SQLSTATEs and errors of the network after which the same may work in a moment: lost, busy, full, a standby. */
const away = /^(08|57P0|57014|53|55P03|40P01|40001|25006|58030)/
const networkAway = /^(ECONN|EPIPE$|ETIMEDOUT$|ENETUNREACH$|EHOSTUNREACH$|EAI_AGAIN$|ENOTFOUND$|ENOENT$)/
const awayTexts =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded|Query read timeout)/

/** A `TablesAway` if waiting may help, a `TablesRefusal` if the operator can do something, otherwise the error as it is. */
export function postgresError(shown: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TablesRefusal) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const words = plainText(error.message === '' ? code : error.message)
  const isAway =
    error instanceof DatabaseError ? away.test(code) : networkAway.test(code) || awayTexts.test(error.message)
  if (isAway) {
    return new TablesAway(
      `${shown} cannot be used at the moment (${words}). What was written before is whole.`,
      {
        cause: error,
      },
    )
  }
  const remedy = remedyOf(code)
  return remedy === undefined ? error : new TablesRefusal(`${shown}: ${words}. ${remedy}`, { cause: error })
}

function remedyOf(code: string): string | undefined {
  switch (code) {
    case '28P01':
    case '28000':
      return 'Check user and password in the address, or in PGUSER and PGPASSWORD.'
    case '3D000':
      return 'Create the database first (createdb), or name another one.'
    case '3F000':
      return 'Create the schema first, or name another one with --schema.'
    case '42501':
      return 'The user needs the right to create tables in the schema, once, and then owns them: GRANT USAGE, CREATE ON SCHEMA … TO …;'
    default:
      return undefined
  }
}
