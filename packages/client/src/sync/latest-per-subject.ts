/**
 * Rule 1 of the contract: only the event with the highest number of a subject counts (spec §1). Collects events in any
 * order, with repeats, and gives each subject's latest, unless the copy already has it or a later one.
 */
import type { FeedEvent } from '../wire.ts'

/** The state of the copy, as far as it must be known: number and time of the subject's event. */
export type AppliedNumber = readonly [sequenceNumber: number, createdMs: number]

export interface LatestPerSubject {
  add(subjectId: string, event: FeedEvent): void
  /** Subjects collected. */
  readonly size: number
  /** UTF-16 units of payload collected. */
  readonly length: number
  /** The collected events, by rising number, one for each subject; afterwards there are none. */
  take(): readonly LatestEvent[]
}

export interface LatestEvent {
  readonly subjectId: string
  readonly event: FeedEvent
}

export interface KnownNumbers {
  /** Numbers that the copy certainly has: an event is news only if its number is greater. */
  readonly applied: ReadonlyMap<string, AppliedNumber>
  /** Numbers that were being applied when the last run ended: an event with a smaller number is superseded. */
  readonly pending: ReadonlyMap<string, number>
}

export function createLatestPerSubject(known: KnownNumbers): LatestPerSubject {
  let gathered = new Map<string, FeedEvent>()
  let length = 0
  return {
    add(subjectId, event) {
      const number = event.sequenceNumber
      if (number <= (known.applied.get(subjectId)?.[0] ?? -1)) return
      if (number < (known.pending.get(subjectId) ?? -1)) return
      const earlier = gathered.get(subjectId)
      if (earlier !== undefined && earlier.sequenceNumber >= number) return
      gathered.set(subjectId, event)
      length += event.payload.length - (earlier?.payload.length ?? 0)
    },
    get size() {
      return gathered.size
    },
    get length() {
      return length
    },
    take() {
      const taken = [...gathered].map(([subjectId, event]) => ({ subjectId, event }))
      gathered = new Map()
      length = 0
      return taken.sort((one, other) => one.event.sequenceNumber - other.event.sequenceNumber)
    },
  }
}
