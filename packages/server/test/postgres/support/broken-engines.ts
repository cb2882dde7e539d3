/** Two ways to number events that many have tried, and that the load must find broken. */
import { Pool } from 'pg'
import type { KeptEvent, LoadTarget, SeenEvent } from './load.ts'

interface BrokenEngine extends LoadTarget, AsyncDisposable {}

interface Row {
  readonly number: string
  readonly name: string
  readonly subject: string
  readonly appeared: boolean
  readonly created: string
}

/** Numbers from a `bigserial`: given when the row is inserted, visible when its transaction happens to commit. */
export function bigserialEngine(url: string): Promise<BrokenEngine> {
  return brokenEngine(
    url,
    `CREATE TABLE broken (number bigserial PRIMARY KEY, name text, subject text, appeared boolean,
      created timestamp DEFAULT clock_timestamp())`,
    `INSERT INTO broken (name, subject, appeared) SELECT $1, $2,
      NOT EXISTS (SELECT FROM broken WHERE subject = $2) RETURNING number`,
  )
}

/**
 * Counter and event in one statement: numbers are right, but the subject's previous state is read from the statement's
 * snapshot, which is older than the counter's lock.
 */
export function oneStatementEngine(url: string): Promise<BrokenEngine> {
  return brokenEngine(
    url,
    `CREATE TABLE counter (last bigint); INSERT INTO counter VALUES (0);
    CREATE TABLE broken (number bigint PRIMARY KEY, name text, subject text, appeared boolean,
      created timestamp DEFAULT clock_timestamp())`,
    `WITH given AS (UPDATE counter SET last = last + 1 RETURNING last)
    INSERT INTO broken (number, name, subject, appeared) SELECT last, $1, $2,
      NOT EXISTS (SELECT FROM broken WHERE subject = $2) FROM given RETURNING number`,
  )
}

async function brokenEngine(url: string, tables: string, insert: string): Promise<BrokenEngine> {
  const pool = new Pool({ connectionString: url, max: 12 })
  await pool.query(tables)
  const read = async (condition: string, values: readonly unknown[]): Promise<readonly KeptEvent[]> => {
    const { rows } = await pool.query<Row>(
      `SELECT number, name, subject, appeared, created::text FROM broken WHERE ${condition} ORDER BY number`,
      [...values],
    )
    return rows.map((row) => ({ ...row, number: Number(row.number) }))
  }
  const seen = async (condition: string, value: unknown): Promise<readonly SeenEvent[]> =>
    read(condition, [value])

  return {
    async publish(name, subject) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const { rows } = await client.query<{ number: string }>(insert, [name, subject])
        await client.query('COMMIT')
        return Number(rows[0]?.number)
      } finally {
        client.release()
      }
    },
    after: (number) => seen('number > $1', number),
    since: (ms) => seen(`created >= to_timestamp($1 / 1000.0) AT TIME ZONE 'UTC'`, ms),
    all: () => read('true', []),
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
