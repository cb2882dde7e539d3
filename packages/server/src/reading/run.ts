/** Reads the events after a number, for a copy that has read up to it (PROTOCOL §11). */
import type { EventStore, Head, ReadSubjectQuery, StoredEvent } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import { ofTypes } from './representation/type-filter.ts'
import type { TypeFilter } from './representation/type-filter.ts'
import { freeBytes } from '../runtime/memory/free-bytes.ts'
import { yieldForStep } from '../runtime/yield-in-steps.ts'

export interface Cursor {
  readonly key: FeedKey
  /** Events with a greater number. */
  readonly after: number
  /** The epoch of the number; without it, only numbers beyond the head are refused. */
  readonly epoch: string | undefined
}

/** A reader cannot continue from this cursor: an empty answer would leave its copy wrong for ever. */
export type CursorRefusal =
  | { readonly kind: 'unknownFeed' }
  | { readonly kind: 'epochChanged'; readonly head: Head }
  | { readonly kind: 'beyondHead'; readonly head: Head }

export interface EventRun {
  readonly kind: 'run'
  /** Ascending. */
  readonly events: readonly StoredEvent[]
  /** The run covers everything up to this number. */
  readonly next: number
  /** Its number is never smaller than that of an event in the run. */
  readonly head: Head
  /** An event before the run that its events quote: it is sent as they are, in part. */
  readonly before?: StoredEvent | undefined
}

export interface RunQuery extends Cursor {
  readonly view: FeedView
  readonly limit: number
  /** `undefined`: events of all types. */
  readonly types?: TypeFilter | undefined
}

/**
 * A run ends when this many bytes were read for it, though its limit and the feed may allow more: 1,800 events of the usual 4.5 kB. It is
 * made as a whole, and its reader asks again anyway.
 */
const mostBytes = 8 * 2 ** 20

/** Takes room for bytes that a run is about to hold; otherwise returns why there is none. */
export type TakeBytes<Reason> = (bytes: number) => Reason | undefined

/** There was room for none of its events. */
export interface NoRoom<Reason> {
  readonly kind: 'noRoom'
  readonly reason: Reason
}

type RunReading<Reason> = EventRun | CursorRefusal | NoRoom<Reason>

/** The next events of a view after a number, at most `limit`; fewer if there is no room for more. */
export async function readRun<Reason>(
  events: EventStore,
  query: RunQuery,
  take: TakeBytes<Reason>,
): Promise<RunReading<Reason>> {
  const head = await checkCursor(events, query)
  if ('kind' in head) return head
  const { key, view } = query
  const readNext: ReadNext = (after, limit) =>
    events.readAfter({ key, view, after, limit, latestOnly: false, head })
  return readSteps(query, head, readNext, take)
}

/** The same for all events of one subject. If there are none, the subject may still be unknown. */
export async function readHistory<Reason>(
  events: EventStore,
  query: Cursor & Pick<ReadSubjectQuery, 'subjectId' | 'limit' | 'branches'>,
  take: TakeBytes<Reason>,
): Promise<RunReading<Reason>> {
  const head = await checkCursor(events, query)
  if ('kind' in head) return head
  const { key, subjectId, branches } = query
  const readNext: ReadNext = (after, limit) => events.readSubject({ key, subjectId, after, limit, branches })
  return readSteps(query, head, readNext, take)
}

/**
 * Read before anything else. A run that is shorter than its limit is then complete up to that head, even in a view whose last event is
 * much earlier than the feed's.
 */
export async function checkCursor(events: EventStore, cursor: Cursor): Promise<Head | CursorRefusal> {
  const head = await events.head(cursor.key)
  if (head === undefined) return { kind: 'unknownFeed' }
  if (cursor.epoch !== undefined && cursor.epoch !== head.epoch) return { kind: 'epochChanged', head }
  if (cursor.after > head.sequenceNumber) return { kind: 'beyondHead', head }
  return head
}

async function readSteps<Reason>(
  { after, limit, types }: Pick<RunQuery, 'after' | 'limit' | 'types'>,
  head: Head,
  readNext: ReadNext,
  take: TakeBytes<Reason>,
): Promise<EventRun | NoRoom<Reason>> {
  const events: StoredEvent[] = []
  let bytes = 0
  /** Everything up to this number has been looked at. */
  let last = after
  let isWhole = true
  // It may read more events of other types than fit.
  const readRest: ReadNext = (from, most) =>
    readNext(from, types === undefined ? Math.min(most, limit - events.length) : most)
  for await (const found of readInSteps(after, readRest)) {
    const passing = ofTypes(found, types)
    const fitting = passing.slice(0, limit - events.length)
    // Before any of them is freed.
    const lookedAt = lengthOf(found)
    const reason = fitting.length === 0 ? undefined : take(lengthOf(fitting))
    if (reason !== undefined) freeEvents(found)
    else if (types !== undefined) freeEvents(found.filter((event) => !fitting.includes(event)))
    if (reason === undefined) {
      events.push(...fitting)
      bytes += lookedAt
      const isCut = fitting.length < passing.length
      last = (isCut ? fitting.at(-1) : found.at(-1))?.sequenceNumber ?? last
    } else if (events.length === 0) return { kind: 'noRoom', reason }
    isWhole = reason === undefined && events.length < limit && bytes < mostBytes
    if (!isWhole) break
  }
  const next = isWhole ? head.sequenceNumber : Math.min(last, head.sequenceNumber)
  return { kind: 'run', events: upToHead(events, head), next, head }
}

/** Without the events after the head, which may be of an epoch that began after it was read. Ends of runs are read for the next one. */
function upToHead(events: readonly StoredEvent[], { sequenceNumber }: Head): readonly StoredEvent[] {
  const end = events.findLastIndex((event) => event.sequenceNumber <= sequenceNumber) + 1
  if (end === events.length) return events
  freeEvents(events.slice(end))
  return events.slice(0, end)
}

export function lengthOf(events: readonly StoredEvent[]): number {
  return events.reduce((sum, { json }) => sum + json.byteLength, 0)
}

/** The bytes of a run's body, in pieces. */
export function runPieces(run: EventRun): readonly Uint8Array[] {
  const { events, next, head } = run
  const { sequenceNumber, epoch, revision } = head
  const rest = JSON.stringify({ next, head: sequenceNumber, epoch, revision })
  const items = events.flatMap(({ json }, index) => (index === 0 ? [json] : [comma, json]))
  return [runStart, ...items, Buffer.from(`],${rest.slice(1)}`)]
}

const runStart = Buffer.from('{"items":[')
const comma = Buffer.from(',')

/** Reads the next events after a number, at most `limit`. */
type ReadNext = (after: number, limit: number) => Promise<readonly StoredEvent[]>

/** A step has about this many bytes: some 2 ms of reading. The previous step shows how long events are. */
const stepBytes = 2 ** 20

/** At 4.5 kB per event this is half of that. More would be too many if short events are followed by the longest, of half a megabyte. */
const mostEvents = 100

/** Nothing is known about the first events: 8 of the longest are 4 MB. A reader that follows a feed finds fewer, and needs one step. */
const firstEvents = 8

/** The events after a number, step by step, each read on demand; none is empty. After the last step nothing was left when it was read. */
export async function* readInSteps(
  after: number,
  readNext: ReadNext,
): AsyncGenerator<readonly StoredEvent[], void> {
  let from = after
  let limit = firstEvents
  for (;;) {
    const found = await readNext(from, limit)
    // Before they are handed out, because the caller frees them after copying.
    const longest = found.reduce((most, { json }) => Math.max(most, json.byteLength), 1)
    if (found.length > 0) yield found
    if (found.length < limit) return
    from = found.at(-1)?.sequenceNumber ?? from
    limit = Math.max(1, Math.min(mostEvents, Math.floor(stepBytes / longest)))
    await yieldForStep()
  }
}

/** Freeing shorter ones costs more than leaving them to the garbage collector. */
const longBytes = 16_384

/** Frees long events that were read in steps and copied to where they are sent from. */
export function freeEvents(events: readonly StoredEvent[]): void {
  for (const { json } of events) if (json.byteLength >= longBytes) freeBytes(json)
}
