/**
 * Notifies other nodes that feeds have new events, and listens to them: `LISTEN` and `NOTIFY`, at once after a pause, and under load once
 * for everything appended since the last message. It never runs inside an append: `NOTIFY` takes a lock on the whole database when its
 * transaction commits. A lost message only costs time: a waiting read also polls.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { feedNames } from '@property-events/protocol'
import { feedName } from '../feed-key.ts'
import type { FeedKey } from '../feed-key.ts'
import type { TaskReport } from '../../runtime/background-task.ts'
import { startWorker } from '../../runtime/worker-loop.ts'
import type { Worker } from '../../runtime/worker-loop.ts'
import type { StoreWork } from '../../sql/store-observer.ts'
import type { Watchers } from '../watchers.ts'
import { texts } from '../../sql/postgres/array.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { Statement } from '../../sql/postgres/session.ts'
import { failureOf } from '../../sql/postgres/failure.ts'
import { feedNumbers } from '../../sql/database.ts'

export interface Changes {
  /** Listens from the first call on. */
  listen(): void
  /** Whether it listens, and since when nothing was received; `undefined`: it has not been asked to. */
  listening(): StoreWork['listening']
  /** Notifies other nodes soon. */
  send(keys: readonly FeedKey[]): void
  /** Resolves when nothing more will be sent or received. */
  close(): Promise<void>
}

const channelOf: Statement = {
  name: 'changes-channel',
  text: `SELECT 'property_events_' || replace(store_id::text, '-', '') AS channel FROM store`,
}
/**
 * Uses the connections for reading: appends keep to one of those for writing, whose backend has everything in its caches. A transaction
 * that notifies would flush like any other; after a crash no message is needed.
 */
const notify: Statement = {
  name: 'changes-notify',
  text: `SELECT pg_notify($1, message)
    FROM unnest($2::text[]) AS message, set_config('synchronous_commit', 'off', true)`,
}

/** PostgreSQL allows 8,000 bytes per message, and a feed takes 39. */
const feedsPerMessage = 150
const reconnectDelayMs = 1_000
/** A message costs about what half an append of one event costs: after each append, it took a quarter of the rate. */
const pauseMs = 10

/** `onRemoteAppend`: called with each feed that another node has appended to, before the watchers are called. */
export function databaseChanges(
  database: Database,
  watchers: Watchers,
  onRemoteAppend: (key: FeedKey) => void,
  report: TaskReport,
): Changes {
  /** Comes first in each message: every node receives all messages, and this one already knows its own. */
  const sender = randomUUID()
  const closing = new AbortController()
  const { signal } = closing
  const name = onceFound(() => channel(database))
  const sending = changesSender(database, name, sender, signal, report)
  const changed = (key: FeedKey): void => {
    onRemoteAppend(key)
    watchers.notify(key)
  }
  let listening: Worker | undefined
  let isConnected = false
  /** Listening counts from the first try on. */
  let receivedMs = 0

  const listenOnce = async (): Promise<void> => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const onMessage = (text: string): void => {
      receivedMs = performance.now()
      readNotification(text, sender, changed)
    }
    const stop = await database.listen(await name(), onMessage, end)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    isConnected = true
    receivedMs = performance.now()
    report.worked('listen')
    watchers.notify(undefined)
    await ended
    isConnected = false
    signal.removeEventListener('abort', stop)
    if (!signal.aborted) throw new Error('the connection that is told of changes was lost')
  }
  const listenOn = (): Worker =>
    startWorker({ task: 'listen', report, retryMs: reconnectDelayMs }, async () => {
      try {
        await listenOnce()
      } finally {
        // Anything that happens from now on is not received.
        if (!signal.aborted) watchers.notify(undefined)
      }
      return { waitMs: reconnectDelayMs }
    })
  return {
    listen() {
      if (listening !== undefined) return
      receivedMs = performance.now()
      listening = listenOn()
    },
    listening: () =>
      listening === undefined ? undefined : { isConnected, silentMs: performance.now() - receivedMs },
    send: (keys) => sending.send(keys),
    async close() {
      closing.abort()
      const listened = listening?.close()
      await sending.ended()
      await listened
    },
  }
}

interface ChangesSender extends Pick<Changes, 'send'> {
  /** Resolves when nothing is being sent. */
  ended(): Promise<void>
}

function changesSender(
  database: Database,
  name: () => Promise<string>,
  sender: string,
  signal: AbortSignal,
  report: TaskReport,
): ChangesSender {
  const unsent = new Map<string, FeedKey>()
  let sending: Promise<void> | undefined

  const sendAll = async (): Promise<void> => {
    while (unsent.size > 0) {
      const messages = messagesOf(sender, [...unsent.values()])
      unsent.clear()
      await database.read(notify, [await name(), texts(messages)])
      report.worked('tell_changes')
      await delay(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return {
    send(keys) {
      for (const key of keys) unsent.set(feedName(key), key)
      if (signal.aborted || unsent.size === 0) return
      sending ??= sendAll()
        .catch((error: unknown) => {
          unsent.clear()
          if (!signal.aborted) report.failed('tell_changes', failureOf(error))
        })
        .finally(() => {
          sending = undefined
        })
    },
    async ended() {
      await sending
    },
  }
}

/** Asks until there has been one answer. */
function onceFound(find: () => Promise<string>): () => Promise<string> {
  let found: string | undefined
  return async () => {
    found ??= await find()
    return found
  }
}

async function channel(database: Database): Promise<string> {
  const [row] = await database.read<{ channel: string }>(channelOf, [])
  return row?.channel ?? ''
}

function messagesOf(sender: string, keys: readonly FeedKey[]): readonly string[] {
  const messages: string[] = []
  for (let from = 0; from < keys.length; from += feedsPerMessage) {
    const lines = keys.slice(from, from + feedsPerMessage)
    const names = lines.map(({ tenantId, feed }) => `${tenantId} ${feedNumbers[feed]}`)
    messages.push([sender, ...names].join('\n'))
  }
  return messages
}

function readNotification(message: string, ownSender: string, onChange: (key: FeedKey) => void): void {
  const [sender, ...lines] = message.split('\n')
  if (sender === ownSender) return
  for (const line of lines) {
    const [tenantId = '', number] = line.split(' ')
    const feed = feedNames.find((name) => String(feedNumbers[name]) === number)
    if (feed !== undefined) onChange({ tenantId, feed })
  }
}
