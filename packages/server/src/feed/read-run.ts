/** Reads the events after a number, for a copy that has read so far (PROTOCOL §11). */
import type { ViewName } from '@property-events/protocol'
import type { EventStore, FeedKey, Head, StoredEvent } from '../storage/storage.ts'

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
  /** The feed's last number; never smaller than the number of an event in the run. */
  readonly headNumber: number
  readonly head: Head
}

export interface RunQuery extends Cursor {
  readonly view: ViewName
  readonly limit: number
}

/** The next events of a view after a number, at most `limit`. */
export async function readRun(events: EventStore, query: RunQuery): Promise<EventRun | CursorRefusal> {
  const head = await checkCursor(events, query)
  if ('kind' in head) return head
  const { key, view, after, limit } = query
  const found = await events.readAfter({ key, view, after, limit, latestOnly: false })
  return runOf(found, query, head)
}

/** All events of one subject after a number, at most `limit`. If there are none, the subject may still be unknown. */
export async function readHistory(
  events: EventStore,
  query: Cursor & { readonly subjectId: string; readonly limit: number },
): Promise<EventRun | CursorRefusal> {
  const head = await checkCursor(events, query)
  if ('kind' in head) return head
  return runOf(await events.readSubject(query), query, head)
}

/**
 * The head before anything else is read. A run that is shorter than its limit is then complete up to that head, even in
 * a view whose last event is much earlier than the feed's.
 */
export async function checkCursor(events: EventStore, cursor: Cursor): Promise<Head | CursorRefusal> {
  const head = await events.head(cursor.key)
  if (head === undefined) return { kind: 'unknownFeed' }
  if (cursor.epoch !== undefined && cursor.epoch !== head.epoch) return { kind: 'epochChanged', head }
  if (cursor.after > head.sequenceNumber) return { kind: 'beyondHead', head }
  return head
}

function runOf(
  events: readonly StoredEvent[],
  { after, limit }: { readonly after: number; readonly limit: number },
  head: Head,
): EventRun {
  const last = events.at(-1)?.sequenceNumber ?? after
  const next = events.length < limit ? Math.max(last, head.sequenceNumber) : last
  return { kind: 'run', events, next, headNumber: Math.max(last, head.sequenceNumber), head }
}

/** The bytes of a run's body, in pieces. */
export function runPieces(run: EventRun): readonly Uint8Array[] {
  const { events, next, headNumber, head } = run
  const rest = JSON.stringify({ next, head: headNumber, epoch: head.epoch, revision: head.revision })
  const items = events.flatMap(({ json }, index) => (index === 0 ? [json] : [comma, json]))
  return [runStart, ...items, Buffer.from(`],${rest.slice(1)}`)]
}

const runStart = Buffer.from('{"items":[')
const comma = Buffer.from(',')
