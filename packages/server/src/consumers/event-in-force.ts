/** Which event of a property was in force at a moment. */
import type { FeedEvent, Ticks } from '@property-events/protocol'
import { parseEventJson } from '../events/event-json.ts'
import type { EventStore } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { placesOf } from '../privacy/disclosure/recipients.ts'

type Events = Pick<EventStore, 'readEvent' | 'readLatest' | 'readRange' | 'subjectPositions' | 'tally'>

interface ForceQuery {
  readonly key: FeedKey
  readonly subjectId: string
  /** Only events in these branches exist. */
  readonly branches: readonly string[] | undefined
  /** The first moment after the one that is asked for; `undefined`: the last event that there is. */
  readonly before: Ticks | undefined
}

export interface EventInForce {
  /** The property's last event before the moment; `undefined`: there was none. */
  readonly event: FeedEvent | undefined
  /** The event after it. */
  readonly next: FeedEvent | undefined
}

/** `undefined`: the feed has no event of the property. Of a long history it reads the places, and only the events that it returns. */
export async function eventInForce(events: Events, query: ForceQuery): Promise<EventInForce | undefined> {
  const { key, subjectId, branches, before } = query
  if ((await events.readLatest(key, subjectId, branches)) === undefined) return undefined
  const times = before === undefined ? [] : [before]
  const tally = await events.tally({ key, view: 'all', times })
  const through = before === undefined ? Infinity : (tally?.before[0] ?? 0)
  const positions = (await placesOf({ events }, key, subjectId)).map(({ position }) => position)
  const following = positions.findIndex((position) => position > through)
  const split = following === -1 ? positions.length : following
  const shown = async (ofPositions: readonly number[]): Promise<FeedEvent | undefined> => {
    for (const position of ofPositions) {
      const event = await readAt(events, key, position)
      if (event !== undefined && (await isShown(events, query, event))) return event
    }
    return undefined
  }
  return {
    event: await shown(positions.slice(0, split).toReversed()),
    next: await shown(positions.slice(split)),
  }
}

async function readAt(events: Events, key: FeedKey, position: number): Promise<FeedEvent | undefined> {
  const pieces = await events.readRange({ key, view: 'all', first: position, count: 1 })
  return pieces.length === 0 ? undefined : parseEventJson(Buffer.concat(pieces).toString())
}

async function isShown(events: Events, { key, branches }: ForceQuery, { id }: FeedEvent): Promise<boolean> {
  return branches === undefined || (await events.readEvent(key, id.toLowerCase(), branches)) !== undefined
}
