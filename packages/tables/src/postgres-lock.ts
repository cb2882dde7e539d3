/** The lock by which one sync at a time writes to a set of tables in PostgreSQL. */
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { ClientConfig } from 'pg'
import { lockedByAnother } from './listing-tables.ts'
import { postgresError } from './postgres-failure.ts'

/** How long the session of a sync that was killed may still hold it. */
const retryForMs = 3_000
const pauseMs = 100

export interface SessionLock {
  /** Takes the lock unless this process has it. Throws a `TablesRefusal` if another one does. */
  acquire(): Promise<void>
  release(): Promise<void>
}

/**
 * An advisory lock on a separate connection, so it ends with the process, however that ends. When the connection is lost, the next `acquire`
 * takes it again; what another sync wrote in between is noticed by its number (`writtenByAnother`).
 */
export function sessionLock(config: ClientConfig, name: string, shown: string): SessionLock {
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
