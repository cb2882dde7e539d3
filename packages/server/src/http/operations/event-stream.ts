/** A stream of events as `text/event-stream` (PROTOCOL §13): events in order, and marks between them. */
import { setTimeout as delay } from 'node:timers/promises'
import type { FeedFollower } from '../../feed/live-tail.ts'
import type { TapeReading } from '../../feed/live-tape.ts'
import { turnForStep } from '../../step-turns.ts'
import type { FeedView, Head, StoredEvent } from '../../storage/storage.ts'

export interface StreamParts {
  readonly follower: FeedFollower
  readonly view: FeedView
  /** The feed's head when the stream was requested. */
  readonly head: Head
  readonly after: number
  readonly markEveryMs: number
  /** When the stream ends and its reader has to begin the next one, on the clock of `performance.now()`. */
  readonly endsMs: number
  /** Aborted when the reader has gone, the service stops, or the key ended. */
  readonly over: AbortSignal
  /** Reads events; they are noted as sent before they are handed out. */
  readonly read: (after: number) => Promise<TapeReading>
  /** Called when events that came after this reader had caught up are with the kernel. */
  readonly told: (events: readonly StoredEvent[]) => void
  /** Called when everything between the numbers has been taken, including these events; equal numbers mean that there was nothing new. */
  readonly taken: (after: number, through: number, events: readonly StoredEvent[]) => void
}

/** How long a reader waits before it connects again. */
const retryMs = 2_000
/**
 * The pause between the head of the answer and the first mark. Some proxies that buffer, such as nginx, pass on what comes together with
 * the head: only a mark that comes by itself shows a reader that later data gets through too.
 */
const apartMs = 20

/**
 * Yields the starting place at once, then every event of the view after it, and a mark now and then, whose id is a place to continue from
 * even in a quiet view. Ends after a `reset` if numbers have changed their meaning.
 */
export async function* eventStream(parts: StreamParts): AsyncGenerator<Uint8Array> {
  const { follower, markEveryMs, endsMs, over } = parts
  const { epoch } = parts.head
  let { head, after } = parts
  let nextMarkMs = performance.now() + markEveryMs
  let hasCaughtUp = false
  yield Buffer.from(`retry: ${retryMs}\n`)
  await delay(apartMs)
  yield Buffer.from(markOf(head, after))
  for (;;) {
    const nowMs = performance.now()
    if (over.aborted || nowMs >= endsMs) return
    const now = await follower.head()
    // Nothing could be read for a long time: the store is away, and the reader continues elsewhere.
    if (now === undefined) return
    if (now.epoch !== epoch) {
      yield Buffer.from(`event: reset\ndata: ${JSON.stringify({ epoch: now.epoch })}\n\n`)
      return
    }
    head = now
    if (nowMs >= nextMarkMs) {
      // Also while there is more to read: none of what is read may be for this reader.
      nextMarkMs = nowMs + markEveryMs
      yield Buffer.from(markOf(head, after))
      if (after >= head.sequenceNumber) parts.taken(after, after, [])
    } else if (after < head.sequenceNumber) {
      const from = after
      const { events, through } = await parts.read(after)
      after = through
      if (events.length === 0) await turnForStep()
      else {
        yield Buffer.concat(events.flatMap((event) => piecesOf(epoch, event)))
        if (hasCaughtUp) parts.told(events)
        hasCaughtUp &&= after >= head.sequenceNumber
      }
      // The consumer asked for more, so the connection has taken the previous piece.
      parts.taken(from, after, events)
    } else {
      hasCaughtUp = true
      const waitMs = Math.min(nextMarkMs, endsMs) - nowMs
      await follower.moved({ ...head, sequenceNumber: after }, waitMs, over)
    }
  }
}

const lineEnd = Buffer.from('\n\n')

/** The bytes of an event contain no line end: JSON escapes it. */
function piecesOf(epoch: string, { sequenceNumber, json }: StoredEvent): readonly Uint8Array[] {
  return [Buffer.from(`id: ${epoch}.${sequenceNumber}\ndata: `), json, lineEnd]
}

function markOf({ epoch, sequenceNumber, revision }: Head, after: number): string {
  const mark = { next: after, head: Math.max(sequenceNumber, after), revision }
  return `id: ${epoch}.${after}\nevent: mark\ndata: ${JSON.stringify(mark)}\n\n`
}
