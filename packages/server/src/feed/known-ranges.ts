/**
 * What `locate` answered last for each view of a feed, for as long as it holds: asking again for an unchanged head, or for
 * another page of the same feed, asks no store. Only whole views are kept: what a window contains has to be asked between
 * two commits (P3).
 */
import type { ViewName } from '@property-events/protocol'
import { BoundedMap } from '../bounded-map.ts'
import type { EventStore, FeedKey, LocateQuery, Located } from '../storage/storage.ts'

export interface KnownRanges {
  /** The range of a whole view as it is now, if that is known without asking the store. */
  known(key: FeedKey, view: ViewName): Located | undefined
  /** As `EventStore.locate`, which it asks every time; the answer for a whole view is remembered. */
  locate(query: LocateQuery): Promise<Located | undefined>
}

/**
 * A change by this node shows in the feed's count before it is acknowledged, one by other nodes usually within milliseconds,
 * and any before this node has shown it in another way (P8). A word from elsewhere can get lost, so nothing is believed for
 * longer than this.
 */
const believedForMs = 1_000

/** Feeds whose ranges are remembered; some 500 bytes each. */
const feedLimit = 20_000

interface Remembered {
  readonly located: Located
  readonly askedMs: number
  /** The feed's count before the store was asked. */
  readonly changeCount: number
}

type FeedRanges = Map<ViewName, Remembered>

export function createKnownRanges(
  events: Pick<EventStore, 'locate' | 'changeCount'>,
  now: () => number = () => performance.now(),
): KnownRanges {
  const feeds = {
    property: new BoundedMap<string, FeedRanges>(feedLimit),
    contact: new BoundedMap<string, FeedRanges>(feedLimit),
  } as const

  return {
    known(key, view) {
      const remembered = feeds[key.feed].get(key.tenantId)?.get(view)
      if (remembered === undefined || now() - remembered.askedMs > believedForMs) return undefined
      return remembered.changeCount === events.changeCount(key) ? remembered.located : undefined
    },
    async locate(query) {
      const { key, view, from, to } = query
      if (from !== undefined || to !== undefined) return events.locate(query)
      const known = feeds[key.feed]
      const ranges: FeedRanges = known.get(key.tenantId) ?? new Map()
      known.set(key.tenantId, ranges)
      const askedMs = now()
      const changeCount = events.changeCount(key)
      const located = await events.locate(query)
      if (located !== undefined) ranges.set(view, { located, askedMs, changeCount })
      return located
    },
  }
}
