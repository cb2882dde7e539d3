/** What retention takes, said without walks: of each event when it was made, when the next of its subject was, and what was on hold. */
import type { FeedEvent, Ticks } from '@property-events/protocol'
import { feedName } from '../../../src/events/feed-key.ts'
import type { FeedKey } from '../../../src/events/feed-key.ts'
import type { ThinSpan } from '../../../src/privacy/retention/retention.ts'
import { ticks } from './test-clock.ts'

/** A subject: the numbers of its events, ascending. */
export interface SubjectHistory {
  readonly numbers: readonly number[]
  readonly isHeld: boolean
}

interface FeedModel {
  /** Numbers of the events that were due while their subjects were not on hold: no other may have lost its payload. */
  readonly due: Set<number>
  /** Of subjects that were on hold at some time: these are looked at again on a later day, and not at once. */
  readonly held: Set<number>
  /** What a span has counted as superseded, no later one counts as not superseded. */
  supersededBefore: Ticks
}

export function retentionModel() {
  const feeds = new Map<string, FeedModel>()
  const feedOf = (key: FeedKey): FeedModel => {
    const name = feedName(key)
    const known = feeds.get(name) ?? { due: new Set(), held: new Set(), supersededBefore: 0n }
    feeds.set(name, known)
    return known
  }
  return {
    /** A span was carried out to its end, when the feed held these events. */
    thin(span: ThinSpan, events: readonly FeedEvent[], histories: readonly SubjectHistory[]): void {
      const [first] = events
      // Where nothing is old enough, nothing is walked.
      if (first === undefined || ticks(first.createdDate) >= span.before) return
      const feed = feedOf(span.key)
      if (span.supersededBefore > feed.supersededBefore) feed.supersededBefore = span.supersededBefore
      const createdOf = new Map(events.map((event) => [event.sequenceNumber, ticks(event.createdDate)]))
      for (const { numbers, isHeld } of histories) {
        for (const [index, number] of numbers.entries()) {
          const [created, next] = [createdOf.get(number), createdOf.get(numbers[index + 1] ?? -1)]
          if (created === undefined || created >= span.before) continue
          if (next === undefined || next >= feed.supersededBefore) continue
          if (isHeld) feed.held.add(number)
          else feed.due.add(number)
        }
      }
    },
    /** Numbers of the events that may have lost their payloads, and of those that must have. */
    thinned(key: FeedKey): { readonly may: ReadonlySet<number>; readonly must: ReadonlySet<number> } {
      const { due, held } = feedOf(key)
      return { may: due, must: due.difference(held) }
    },
  }
}
