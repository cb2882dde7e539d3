/** The highest number this node has shown or acknowledged in each feed: what a restored store must still hold (D13). */
import type { Ticks } from '@property-events/protocol'
import type { FeedKey } from '../storage.ts'
import { feedName } from './feed-reading.ts'

export interface ShownNumber {
  readonly key: FeedKey
  readonly sequenceNumber: number
  /** `undefined` where only the number was seen. */
  readonly created: Ticks | undefined
}

export interface ShownNumbers {
  note(key: FeedKey, sequenceNumber: number, created?: Ticks): void
  highest(key: FeedKey): number
  all(): readonly ShownNumber[]
}

/** Some 10 MB. Feeds that nobody asked about for longest are forgotten first. */
const feedsAtMost = 50_000

export function shownNumbers(): ShownNumbers {
  const shown = new Map<string, ShownNumber>()
  return {
    note(key, sequenceNumber, created) {
      const name = feedName(key)
      const before = shown.get(name)
      shown.delete(name)
      shown.set(
        name,
        before !== undefined && before.sequenceNumber >= sequenceNumber
          ? before
          : { key, sequenceNumber, created },
      )
      const [oldest] = shown.keys()
      if (shown.size > feedsAtMost && oldest !== undefined) shown.delete(oldest)
    },
    highest: (key) => shown.get(feedName(key))?.sequenceNumber ?? 0,
    all: () => [...shown.values()].filter(({ sequenceNumber }) => sequenceNumber > 0),
  }
}
