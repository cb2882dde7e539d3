/**
 * Telling other nodes that feeds have got events, and being told: `LISTEN` and `NOTIFY`, once for all that was appended
 * while the last message was on its way. Never inside an append: `NOTIFY` takes a lock of the whole database when its
 * transaction commits. A lost message costs time and nothing else; whoever waits also looks by itself.
 */
import { feedNames } from '@property-events/protocol'
import type { FeedKey } from '../storage.ts'
import type { Watchers } from '../watchers.ts'
import type { Database, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

export interface Changes {
  /** Listens from the first call on. */
  listen(): void
  /** Tells other nodes, some time soon. */
  send(keys: readonly FeedKey[]): void
  /** Resolves when nothing more will be sent or heard. */
  close(): Promise<void>
}

const channelOf: Statement = {
  name: 'changes-channel',
  text: `SELECT 'property_events_' || replace(store_id::text, '-', '') AS channel FROM store`,
}
const notify: Statement = { name: 'changes-notify', text: 'SELECT pg_notify($1, $2)' }

/** PostgreSQL's limit is 8,000 bytes. A message for more feeds than fit says that any may have changed. */
const feedsPerMessage = 150
const reconnectDelayMs = 1_000

export function databaseChanges(database: Database, watchers: Watchers): Changes {
  const unsent = new Map<string, FeedKey>()
  let sending: Promise<void> | undefined
  let listening: Promise<void> | undefined
  const closing = new AbortController()
  let name: string | undefined
  let stop = (): void => undefined
  let wake = (): void => undefined

  const sendAll = async (): Promise<void> => {
    while (unsent.size > 0) {
      const message = messageOf([...unsent.values()])
      unsent.clear()
      await database.write(async (session) => {
        name ??= await channel(session)
        await session.query(notify, [name, message])
      })
    }
  }
  const listenOn = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await listenOnce().catch(() => undefined)
      if (closing.signal.aborted) return
      // Whatever happened meanwhile was not heard.
      watchers.tell(undefined)
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, reconnectDelayMs).unref()
      })
    }
  }
  const listenOnce = async (): Promise<void> => {
    name ??= await database.write(channel)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    stop = await database.listen(name, (text) => hear(text, watchers), end)
    if (closing.signal.aborted) stop()
    watchers.tell(undefined)
    await ended
  }

  return {
    listen() {
      listening ??= listenOn()
    },
    send(keys) {
      for (const key of keys) unsent.set(`${key.tenantId} ${key.feed}`, key)
      if (closing.signal.aborted || unsent.size === 0) return
      sending ??= sendAll()
        .catch(() => unsent.clear())
        .finally(() => {
          sending = undefined
        })
    },
    async close() {
      closing.abort()
      stop()
      wake()
      await sending
      await listening
    },
  }
}

async function channel(session: Parameters<Parameters<Database['write']>[0]>[0]): Promise<string> {
  const [row] = await session.query<{ channel: string }>(channelOf, [])
  return row?.channel ?? ''
}

function messageOf(keys: readonly FeedKey[]): string {
  if (keys.length > feedsPerMessage) return ''
  return keys.map(({ tenantId, feed }) => `${tenantId} ${feedNumbers[feed]}`).join('\n')
}

function hear(message: string, watchers: Watchers): void {
  if (message === '') watchers.tell(undefined)
  for (const line of message.split('\n')) {
    const [tenantId = '', number] = line.split(' ')
    const feed = feedNames.find((name) => String(feedNumbers[name]) === number)
    if (feed !== undefined) watchers.tell({ tenantId, feed })
  }
}
