/**
 * The snapshot of a feed (PROTOCOL §11): the latest event of every subject, as of a head that is announced first. It is read piece by
 * piece while publishing continues, and holds no lock and no state. A subject that gets a newer event before its turn is left out: its
 * new event has a number after the head, and a client that continues from the head reads it there. So a copy made from the snapshot and
 * everything after its head equals the copy made from the whole feed. That is the promise, and not that the snapshot itself contains
 * every subject.
 */
import type { EventStore, Head, StoredEvent } from '../events/event-log.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import { readInSteps } from './read-in-steps.ts'
import { checkCursor } from './run.ts'
import type { CursorRefusal } from './run.ts'

export interface SnapshotQuery {
  readonly key: FeedKey
  readonly view: FeedView
  /** Continues after this number; 0: from the beginning. */
  readonly after: number
  /** As of this number; by default, as of the feed's head. */
  readonly headNumber: number | undefined
  readonly epoch: string | undefined
}

export interface Snapshot {
  readonly kind: 'snapshot'
  readonly head: Head
  /** The snapshot is as of this number. */
  readonly headNumber: number
  /** Pieces of about a megabyte, in ascending order; each is read on demand, in a separate turn. */
  pieces(): AsyncGenerator<readonly StoredEvent[]>
}

export async function openSnapshot(
  events: EventStore,
  query: SnapshotQuery,
): Promise<Snapshot | CursorRefusal> {
  const { key, view, after, epoch } = query
  const head = await checkCursor(events, { key, epoch, after: Math.max(after, query.headNumber ?? 0) })
  if ('kind' in head) return head
  const headNumber = query.headNumber ?? head.sequenceNumber

  async function* pieces(): AsyncGenerator<readonly StoredEvent[]> {
    if (after >= headNumber) return
    const readNext = (from: number, limit: number) =>
      events.readAfter({ key, view, after: from, limit, latestOnly: true })
    for await (const found of readInSteps(after, readNext)) {
      const piece = found.filter(({ sequenceNumber }) => sequenceNumber <= headNumber)
      if (piece.length > 0) yield piece
      if (found.at(-1)?.sequenceNumber === headNumber || piece.length < found.length) return
    }
  }
  return { kind: 'snapshot', head, headNumber, pieces }
}
