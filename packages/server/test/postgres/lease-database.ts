/** Databases of a server that several processes use at once, each with one of its own. */
import { Pool } from 'pg'

/**
 * The address of a database that is this process's alone for as long as it lives: one that an earlier process has left, or a new one. Each
 * has a number, and whoever holds the advisory lock of that number has the database; a session that ends, however it ends, gives it back.
 */
export async function leaseDatabase(server: string): Promise<string> {
  // One session, which holds the lock for as long as the process lives and does not keep it alive.
  const keeper = new Pool({ connectionString: server, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  keeper.on('error', () => undefined)
  const number = await firstFree(keeper)
  const name = `tests_${number}`
  const { rowCount } = await keeper.query('SELECT FROM pg_database WHERE datname = $1', [name])
  if (rowCount === 0) await keeper.query(`CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = name
  return url.href
}

async function firstFree(keeper: Pool): Promise<number> {
  for (let number = 1; ; number += 1) {
    const { rows } = await keeper.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
      number,
    ])
    if (rows[0]?.locked === true) return number
  }
}
