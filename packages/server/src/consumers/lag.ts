/** The number up to which a consumer was sent everything of a view, and how much it lacks (D28). */
import { parseCreatedDate } from '@property-events/protocol'
import { StorageFailure } from '../sql/storage-errors.ts'
import { createdMsOf, parseEventJson } from '../events/event-json.ts'
import type { EventStore, Head, StoredEvent } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { StoredRead, ReadSpace } from './consumer.ts'
import type { NumberRange } from '../runtime/number-ranges.ts'

export interface ConsumerLag {
  readonly view: FeedView
  /** Everything of the view up to this number was sent. */
  readonly through: number
  /** The number of events of the view after it. */
  readonly events: number
  /** When the first of them was stored, milliseconds since 1970; `undefined`: there are none. */
  readonly sinceMs: number | undefined
}

type Events = Pick<EventStore, 'locate' | 'readAfter' | 'readRange'>

/** `readings`: of one consumer and view. */
type LagReader = (view: FeedView, readings: readonly StoredRead[]) => Promise<ConsumerLag>

/** Pages and runs alternate at most this often. */
const turnsAtMost = 10

/** Lags of one feed's consumers. Each answer is read once: most consumers have read up to the same number. */
export function lagReader(events: Events, key: FeedKey, head: Head): LagReader {
  const counts = new Map<string, Promise<number>>()
  const nexts = new Map<string, Promise<Place | undefined>>()

  const once = <T>(known: Map<string, Promise<T>>, name: string, ask: () => Promise<T>): Promise<T> => {
    const found = known.get(name) ?? ask()
    known.set(name, found)
    return found
  }
  const countOf = (view: FeedView): Promise<number> =>
    once(counts, view, async () => (await events.locate({ key, view }))?.range.count ?? 0)
  /** The first event of the view after a number; its ordinal is one more than the number of events up to the number. */
  const nextAfter = (view: FeedView, after: number): Promise<Place | undefined> =>
    once(nexts, `${view} ${after}`, async () => {
      if (after >= head.sequenceNumber) return undefined
      const [next] = await events.readAfter({ key, view, after, limit: 1, latestOnly: false })
      return next && placeOf(events, key, view, next)
    })
  const ordinalThrough = async (view: FeedView, number: number): Promise<number> =>
    ((await nextAfter(view, number))?.ordinal ?? (await countOf(view)) + 1) - 1
  const numberAt = async (view: FeedView, ordinal: number): Promise<number> => {
    const [bytes] = await events.readRange({ key, view, first: ordinal, count: 1 })
    return bytes === undefined ? 0 : parseEventJson(Buffer.from(bytes).toString()).sequenceNumber
  }

  return async (view, readings) => {
    const rangesOf = (...spaces: readonly ReadSpace[]) =>
      readings
        .filter((one) => spaces.includes(one.space) && (one.epoch === '' || one.epoch === head.epoch))
        .flatMap(({ ranges }) => ranges)
    const [numbers, ordinals, positions] = [
      rangesOf('numbers', 'latest'),
      rangesOf('ordinals'),
      rangesOf('positions'),
    ]
    const count = await countOf(view)
    // There is nothing before the first event.
    let number = ((await nextAfter(view, 0))?.sequenceNumber ?? 1) - 1
    const position = throughOf(positions, 0)
    if (position > 0) number = Math.max(number, await numberAt('all', Math.min(position, head.position)))
    let ordinal = 0
    for (let turn = 0; turn < turnsAtMost; turn += 1) {
      number = throughOf(numbers, number)
      const before = Math.max(ordinal, await ordinalThrough(view, number))
      ordinal = Math.min(throughOf(ordinals, before), count)
      if (ordinal === before) break
      number = Math.max(number, await numberAt(view, ordinal))
    }
    if (ordinal >= count) return { view, through: head.sequenceNumber, events: 0, sinceMs: undefined }
    const next = await nextAfter(view, number)
    return { view, through: number, events: count - ordinal, sinceMs: next?.createdMs }
  }
}

interface Place {
  readonly sequenceNumber: number
  readonly createdMs: number
  readonly ordinal: number
}

async function placeOf(
  events: Events,
  key: FeedKey,
  view: FeedView,
  event: StoredEvent,
): Promise<Place | undefined> {
  const { sequenceNumber, createdDate } = parseEventJson(Buffer.from(event.json).toString())
  const created = parseCreatedDate(createdDate)
  if (created === undefined) return undefined
  const located = await events.locate({ key, view, from: created, to: created + 1n })
  return located && { sequenceNumber, createdMs: createdMsOf({ createdDate }), ordinal: located.range.first }
}

/** The last number that the ranges reach from a number without a gap. */
function throughOf(ranges: readonly NumberRange[], from: number): number {
  let through = from
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    if (first > through + 1) break
    through = Math.max(through, last)
  }
  return through
}

export const notMade = 'notMade'

/**
 * For an answer about all consumers of a feed, which cannot wait for one view of a branch. `notMade`: the view is being made, or no longer exists. Any other failure is rethrown.
 */
export async function orIfNotMade<T>(found: Promise<T>): Promise<T | typeof notMade> {
  try {
    return await found
  } catch (error) {
    if (error instanceof StorageFailure && error.code === 'view_being_made') return notMade
    throw error
  }
}
