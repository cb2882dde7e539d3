/** Reads feeds for waiting readers: each event is read once, and kept for a while for all of them. */
import type { EventStore, Head, ReadAfterQuery, StoredEvent } from '../events/event-log.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { FollowedFeed } from './followed-feed.ts'
import { broadcastBuffer } from './broadcast-buffer.ts'
import type { BroadcastBuffer, BufferedRead } from './broadcast-buffer.ts'

/**
 * The next events of a view, of about `mostBytes` together and at least one. They belong to all readers: none may change or free
 * them. Resolves at once if they are kept, with one object for all readers that ask for the same. Rejects with the store's `StorageFailure`.
 */
export type ReadBuffer = (
  feed: FollowedFeed,
  view: FeedView,
  after: number,
  mostBytes: number,
) => BufferedRead | Promise<BufferedRead>

/** In one read of the store: at 4.5 kB per event some 500 kB. */
const eventsAtOnce = 100

/** For one reader whose next events are not kept: at most what 64 KiB hold, at this size per event. */
const storedAtOnce = 14
const usualBytes = 4_500

/** `feeds`: all followed feeds. `bufferBytes`: for the events of all of them together. */
export function broadcastBuffers(
  events: Pick<EventStore, 'readAfter'>,
  feeds: () => Iterable<FollowedFeed>,
  bufferBytes: number,
): ReadBuffer {
  function makeRoom(): void {
    for (;;) {
      const tapes = [...feeds()].flatMap((feed) => [...feed.tapes.values()])
      if (tapes.reduce((sum, { bytes }) => sum + bytes, 0) <= bufferBytes) return
      const largest = tapes.reduce((most, tape) => (tape.bytes > most.bytes ? tape : most))
      // Drops the older half: looking for the largest after each event would take longer than reading some of them again.
      for (let left = largest.bytes / 2; left > 0;) left -= largest.dropOldest()
    }
  }

  async function fill(
    feed: FollowedFeed,
    view: FeedView,
    tape: BroadcastBuffer,
    upTo: number,
  ): Promise<void> {
    while (tape.through < upTo && feed.tapes.get(view) === tape) {
      const query = { key: feed.key, view, after: tape.through, limit: eventsAtOnce, latestOnly: false }
      const found = await events.readAfter(query)
      const fitting = upToNumber(found, upTo)
      const isAll = fitting.length < found.length || found.length < eventsAtOnce
      tape.add(fitting, isAll ? upTo : (fitting.at(-1)?.sequenceNumber ?? upTo))
      makeRoom()
    }
  }

  function filled(feed: FollowedFeed, view: FeedView, tape: BroadcastBuffer, upTo: number): Promise<void> {
    const known = feed.filling.get(view)
    if (known !== undefined) return known
    const filling = fill(feed, view, tape, upTo).finally(() => feed.filling.delete(view))
    feed.filling.set(view, filling)
    return filling
  }

  return (feed, view, after, mostBytes) => {
    const { head } = feed
    if (head === undefined || head === 'unread') return { events: [], through: after }
    const tape = feed.tapes.get(view) ?? broadcastBuffer(startOf(head.sequenceNumber, after))
    feed.tapes.set(view, tape)
    // Leaves out events that were read before the epoch or the revision changed.
    const kept = (): BufferedRead | undefined =>
      feed.tapes.get(view) === tape ? tape.after(after, mostBytes) : undefined
    const read = (): BufferedRead | Promise<BufferedRead> =>
      kept() ?? stored(events, { key: feed.key, view, after }, head, mostBytes)
    return tape.through < head.sequenceNumber
      ? filled(feed, view, tape, head.sequenceNumber).then(read)
      : read()
  }
}

/** For a reader that is too far behind for what is kept. */
async function stored(
  events: Pick<EventStore, 'readAfter'>,
  query: Pick<ReadAfterQuery, 'key' | 'view' | 'after'>,
  head: Head,
  mostBytes: number,
): Promise<BufferedRead> {
  const limit = Math.min(storedAtOnce, Math.ceil(mostBytes / usualBytes))
  const found = await events.readAfter({ ...query, limit, latestOnly: false })
  const known = upToNumber(found, head.sequenceNumber)
  const fitting = fittingIn(known, mostBytes)
  const isAtHead = known.length < found.length || found.length < limit
  const isAll = fitting.length === known.length && isAtHead
  const last = fitting.at(-1)?.sequenceNumber ?? query.after
  return { events: fitting, through: isAll ? head.sequenceNumber : last }
}

/** The other readers are about where the first one was a moment ago. A reader that has much to read does not make the tape begin there. */
function startOf(headNumber: number, after: number): number {
  return headNumber - after < eventsAtOnce ? Math.min(after, headNumber) : headNumber
}

/** Events after the feed's head as it is known may be of an epoch that is not known yet. */
function upToNumber(events: readonly StoredEvent[], upTo: number): readonly StoredEvent[] {
  return events.filter(({ sequenceNumber }) => sequenceNumber <= upTo)
}

function fittingIn<Event extends { readonly json: Uint8Array }>(
  events: readonly Event[],
  mostBytes: number,
): readonly Event[] {
  let bytes = 0
  return events.filter(({ json }, index) => {
    bytes += json.byteLength
    return index === 0 || bytes <= mostBytes
  })
}
