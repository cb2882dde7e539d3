/**
 * The newest events of feeds, from this node's own commits, for as long as somebody polls for them. Beside busy publishers each statement
 * of a poll waits some 20 ms for its part of the processor, whatever it asks for.
 *
 * Nothing is found without a head that the database has given, which alone says what events there are. The state of a head changes with an
 * epoch and whenever an event is reduced. So of two heads of one state, all events between them are as they were committed.
 */
import { formatTicks } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import { eventJson } from '../event-json.ts'
import { payloadState } from '../append/reduced-event.ts'
import type { Head, ReadAfterQuery, StoredEvent, ViewRange } from '../event-log.ts'
import { feedName } from '../feed-key.ts'
import type { FeedKey } from '../feed-key.ts'
import type { FeedPlan, Stamped } from './append/plan-commit.ts'

export interface RecentEvents {
  /** The position of the first event that is not before a time; `undefined`: it is not known. */
  firstFrom(key: FeedKey, head: Head, from: Ticks): number | undefined
  /** As `EventStore.readAfter`, up to the head; `undefined`: not all of these events are here, or the query has no head. */
  after(query: ReadAfterQuery): readonly StoredEvent[] | undefined
  /** As `EventStore.readRange`; `undefined` as above, and if they have more than `maxBytes`. */
  range(range: ViewRange, maxBytes?: number): readonly Uint8Array[] | undefined
  /** Records what a commit has written, once it is committed. */
  record(plans: readonly FeedPlan[], stamped: ReadonlyMap<string, Stamped>): void
  forget(keys: readonly FeedKey[]): void
  forgetAll(): void
}

/** Events of one feed without a gap, as they were committed. */
interface Tail {
  readonly state: string
  /** The position of the first head of this state that was polled. What is not after it may have been reduced. */
  readonly after: number
  /** The position of the first event. */
  first: number
  events: RecentEvent[]
  bytes: number
  polledMs: number
}

interface RecentEvent {
  readonly createdDate: string
  readonly json: Uint8Array
}

/** Of one feed, and of all. */
const feedBytes = 4 * 2 ** 20
const allBytes = 16 * 2 ** 20
/** What an event takes beside its text. */
const bytesBeside = 250
/** They are gone through with each commit to one of them, some 5 µs. */
const mostFeeds = 500
/** Of a feed that nobody has polled for so long, nothing is kept. */
const keptForMs = 10_000

/** `now`: milliseconds, never set back. */
export function recentEvents(now: () => number = () => performance.now()): RecentEvents {
  const tails = new BoundedMap<string, Tail>(mostFeeds)

  const tailOf = (name: string): Tail | undefined => {
    const tail = tails.get(name)
    if (tail === undefined || now() - tail.polledMs <= keptForMs) return tail
    tails.delete(name)
    return undefined
  }
  /** Begins one if there is none of the head's state. */
  const polled = (key: FeedKey, head: Head): Tail => {
    const name = feedName(key)
    const state = stateOf(head)
    const known = tailOf(name)
    const { position } = head
    const tail =
      known?.state === state
        ? known
        : { state, after: position, first: position + 1, events: [], bytes: 0, polledMs: 0 }
    if (tail !== known) tails.set(name, tail)
    tail.polledMs = now()
    return tail
  }
  return {
    firstFrom(key, head, from) {
      const { first, events } = polled(key, head)
      if (from > (head.created ?? 0n)) return head.position + 1
      const date = formatTicks(from)
      // Times rise with positions (P3): what is before one that is too early is too early as well.
      const early = events.findLastIndex(({ createdDate }) => createdDate < date) + 1
      const isKnown = early > 0 && (early < events.length || first + early > head.position)
      return isKnown ? first + early : undefined
    },
    after({ key, view, after, limit, latestOnly, head }) {
      if (head === undefined || view !== 'all' || latestOnly) return undefined
      const tail = polled(key, head)
      if (after >= head.sequenceNumber) return []
      // Numbers of an earlier epoch give a position before the tail.
      const first = after + 1 - (head.sequenceNumber - head.position)
      const found = slice(tail, first, Math.min(limit, head.position + 1 - first))
      // A copy, because readers change and free what they get.
      return found?.map(({ json }, nth) => ({ sequenceNumber: after + 1 + nth, json: new Uint8Array(json) }))
    },
    range({ key, view, first, count, positions, head }, maxBytes = Infinity) {
      if (head === undefined || view !== 'all' || positions !== undefined || count === 0) return undefined
      const tail = tailOf(feedName(key))
      const found = tail?.state === stateOf(head) ? slice(tail, first, count) : undefined
      return found && joined(found, maxBytes)
    },
    record(plans, stamped) {
      for (const plan of plans) {
        const name = feedName(plan.reading.key)
        const tail = tailOf(name)
        const given = stamped.get(name)
        if (tail !== undefined && given !== undefined) add(tail, plan, given)
      }
      let bytes = 0
      for (const tail of tails.values()) bytes += tail.bytes
      // Some seconds of the busiest publishers, which readers then read from the database once.
      if (bytes > allBytes) tails.clear()
    },
    forget(keys) {
      for (const key of keys) tails.delete(feedName(key))
    },
    forgetAll: () => tails.clear(),
  }
}

/** Of what is left of the events, in which epoch (D13, D17). None comes a second time. */
function stateOf(head: Head): string {
  return `${head.epoch} ${payloadState(head)}`
}

function slice({ first, events }: Tail, from: number, count: number): readonly RecentEvent[] | undefined {
  const index = from - first
  return index < 0 || index + count > events.length ? undefined : events.slice(index, index + count)
}

function add(tail: Tail, { rows }: FeedPlan, { key, lastPosition, stored }: Stamped): void {
  // The answer came after a head that shows the commit.
  if (lastPosition <= tail.after) return
  const first = lastPosition - rows.length + 1
  // Another node has committed in between, or a commit before it was lost.
  if (first !== tail.first + tail.events.length) {
    tail.first = first
    tail.events = []
    tail.bytes = 0
  }
  for (const [nth, { sequenceNumber, createdDate }] of stored.entries()) {
    const row = rows[nth]
    if (row === undefined) continue
    const event = {
      createdDate,
      json: encoder.encode(eventJson(key, row.event, sequenceNumber, createdDate)),
    }
    tail.events.push(event)
    tail.bytes += bytesOf(event)
    while (tail.bytes > feedBytes) {
      tail.bytes -= bytesOf(tail.events.shift())
      tail.first += 1
    }
  }
}

function bytesOf(event: RecentEvent | undefined): number {
  return bytesBeside + (event?.json.byteLength ?? 0)
}

const encoder = new TextEncoder()
const comma = 0x2c

/** A copy, because readers change and free what they get. */
function joined(events: readonly RecentEvent[], maxBytes: number): readonly Uint8Array[] | undefined {
  const byteLength = events.reduce((sum, { json }) => sum + json.byteLength + 1, -1)
  if (byteLength > maxBytes) return undefined
  const bytes = Buffer.allocUnsafeSlow(byteLength)
  let at = -1
  for (const { json } of events) {
    if (at > 0) bytes[at] = comma
    bytes.set(json, at + 1)
    at += 1 + json.byteLength
  }
  return [bytes]
}
