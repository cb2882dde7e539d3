/** The last events of the branches of a feed, for keys that read only those (PROTOCOL §2.9). */
import { parseEventJson } from '../../events/event-json.ts'
import { feedName } from '../../events/feed-key.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { feedViewOf } from '../feed-view.ts'

export interface LastEvent {
  readonly sequenceNumber: number
  readonly createdDate: string | null
}

type Reads = Pick<EventStore, 'locate' | 'readRange'>

/** Simultaneous reads of the store: a key of thousands of agencies must not take all connections. */
const atOnce = 8

/**
 * The last events, by the names of the limited feeds. `limited`: their branches; `undefined`: their view is being made, and shows
 * nothing.
 */
export async function lastsOfBranches(
  events: Reads,
  keys: readonly FeedKey[],
  limited: ReadonlyMap<string, readonly string[] | undefined>,
): Promise<ReadonlyMap<string, LastEvent>> {
  const lasts = new Map<string, LastEvent>()
  const wanted = limited.size === 0 ? [] : keys.filter((key) => limited.has(feedName(key)))
  for (let from = 0; from < wanted.length; from += atOnce) {
    const step = wanted.slice(from, from + atOnce)
    await Promise.all(
      step.map(async (key) => {
        const name = feedName(key)
        const branches = limited.get(name)
        lasts.set(name, branches === undefined ? noEvent : await lastOf(events, key, branches))
      }),
    )
  }
  return lasts
}

const noEvent: LastEvent = { sequenceNumber: 0, createdDate: null }

async function lastOf(events: Reads, key: FeedKey, branches: readonly string[]): Promise<LastEvent> {
  const located = await events.locate({ key, view: feedViewOf({ branches }, 'all') })
  const last = located?.range.count ?? 0
  if (located === undefined || last === 0) return noEvent
  const pieces = await events.readRange({ ...located.range, first: last, count: 1 })
  const { sequenceNumber, createdDate } = parseEventJson(Buffer.concat(pieces).toString('utf8'))
  return { sequenceNumber, createdDate }
}
