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
  close(): void
}

/**
 * This process's appends are told at once, before they are acknowledged (P8), other nodes' usually within milliseconds. A
 * word from elsewhere can get lost, so nothing is believed for longer than this.
 */
const believedForMs = 1_000

/** Feeds whose ranges are remembered; some 500 bytes each. */
const feedLimit = 20_000

interface Remembered {
  readonly located: Located
  readonly askedMs: number
}

/** One feed's views. It is thrown away when the feed changes, so that an answer still under way is not remembered. */
type FeedRanges = Map<ViewName, Remembered>

export function createKnownRanges(
  events: Pick<EventStore, 'locate' | 'watch'>,
  now: () => number = () => performance.now(),
): KnownRanges {
  const feeds = {
    property: new BoundedMap<string, FeedRanges>(feedLimit),
    contact: new BoundedMap<string, FeedRanges>(feedLimit),
  } as const
  const stop = events.watch((changed) => {
    if (changed !== undefined) feeds[changed.feed].delete(changed.tenantId)
    else for (const known of Object.values(feeds)) known.clear()
  })

  return {
    known({ tenantId, feed }, view) {
      const remembered = feeds[feed].get(tenantId)?.get(view)
      if (remembered === undefined || now() - remembered.askedMs > believedForMs) return undefined
      return remembered.located
    },
    async locate(query) {
      const { key, view, from, to } = query
      if (from !== undefined || to !== undefined) return events.locate(query)
      const known = feeds[key.feed]
      const ranges: FeedRanges = known.get(key.tenantId) ?? new Map()
      known.set(key.tenantId, ranges)
      const askedMs = now()
      const located = await events.locate(query)
      if (located !== undefined && known.get(key.tenantId) === ranges) ranges.set(view, { located, askedMs })
      return located
    },
    close: stop,
  }
}
