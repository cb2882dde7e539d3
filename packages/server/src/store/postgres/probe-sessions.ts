/** What a pooler between a node and its database takes away: sessions that are not shared, and messages about changes. */
import type { Client, Notification } from 'pg'

interface SessionFacts {
  readonly keepsSessions: boolean
  readonly deliversMessages: boolean
}

const heardWithinMs = 2_000

/** `token`: not used by another probe at the time. A standby refuses to listen, whatever is in front of it. */
export async function probeSessions(
  first: Client,
  second: Client,
  token: string,
  standby: boolean,
): Promise<SessionFacts> {
  return {
    keepsSessions: await keepsSessions(first, second, token),
    deliversMessages: standby || (await deliversMessages(first, second, token)),
  }
}

/** A pooler that reassigns sessions between transactions gives the second client the one that the first has just left. */
async function keepsSessions(first: Client, second: Client, token: string): Promise<boolean> {
  const sessionOf = async (client: Client, query: string): Promise<Record<string, unknown>> => {
    const { rows } = await client.query<Record<string, unknown>>(query)
    return rows[0] ?? {}
  }
  const setting = `set_config('property_events.probe', '${token}', false)`
  const own = await sessionOf(first, `SELECT pg_backend_pid() AS pid, ${setting}`)
  await second.query('BEGIN')
  try {
    const other = await sessionOf(second, 'SELECT pg_backend_pid() AS pid')
    const again = await sessionOf(
      first,
      `SELECT pg_backend_pid() AS pid, current_setting('property_events.probe', true) AS token`,
    )
    return other['pid'] !== own['pid'] && again['pid'] === own['pid'] && again['token'] === token
  } finally {
    await second.query('ROLLBACK')
  }
}

async function deliversMessages(listener: Client, sender: Client, token: string): Promise<boolean> {
  const channel = `property_events_probe_${token.replaceAll('-', '')}`
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const onNotification = (message: Notification): void => {
    if (message.channel === channel) resolve(true)
  }
  listener.on('notification', onNotification)
  const timer = setTimeout(() => resolve(false), heardWithinMs)
  try {
    await listener.query(`LISTEN ${channel}`)
    await sender.query('SELECT pg_notify($1, $2)', [channel, ''])
    return await promise
  } finally {
    clearTimeout(timer)
    listener.off('notification', onNotification)
    await listener.query(`UNLISTEN ${channel}`)
  }
}
