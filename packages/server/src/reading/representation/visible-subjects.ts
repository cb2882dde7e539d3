/** Which subjects are shown to a key that others are shown to as removed: contacts without one of its roles (D11, docs/decisions/0041). */
import { meaningOf } from '@property-events/protocol'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { LiveSubject } from '../../events/live-subjects.ts'
import { redactedEvents } from './contact-redaction.ts'
import type { RedactContact } from './contact-redaction.ts'

/** Some 2 ms of reading and narrowing. */
const eventsPerStep = 100
/** Of payloads as long as they may be, fewer at a time. */
const mostBytes = 2 ** 20

/** Those of the subjects whose latest event the key is not shown as a removal, in their order. Reads each of these events. */
export async function shownTo(
  narrow: RedactContact,
  events: Pick<EventStore, 'readRangeWithin' | 'readRange'>,
  key: FeedKey,
  subjects: readonly LiveSubject[],
): Promise<readonly LiveSubject[]> {
  const positions = Float64Array.from(subjects, ({ position }) => position).toSorted()
  const shown = new Set<number>()
  let size = eventsPerStep
  for (let from = 0; from < positions.length;) {
    const count = Math.min(size, positions.length - from)
    const range = { key, view: 'all', first: from + 1, count, positions } as const
    const pieces =
      count === 1 ? await events.readRange(range) : await events.readRangeWithin(range, mostBytes)
    if (pieces === undefined) {
      size = Math.floor(count / 2)
      continue
    }
    for (const event of redactedEvents(Buffer.concat(pieces), narrow)) {
      if (meaningOf(key.feed, event.eventTypeShortCode) !== 'gone') shown.add(event.sequenceNumber)
    }
    for (const piece of pieces) freeBytes(piece)
    from += count
    await yieldForStep()
  }
  return subjects.filter(({ sequenceNumber }) => shown.has(sequenceNumber))
}
