/** The pieces of an event stream, in the format of `text/event-stream`. */
import type { Head, StoredEvent } from '../events/event-log.ts'
import { livePiece } from '../http/live-piece.ts'
import type { LivePiece } from '../http/live-piece.ts'

/** How long a reader waits before it connects again. */
const retryMs = 2_000

export const beginningPiece = textPiece(`retry: ${retryMs}\n`)

const lineEnd = Buffer.from('\n\n')

/** `events`: at least one. The bytes of an event contain no line end: JSON escapes it. */
export function eventsPiece(epoch: string, events: readonly StoredEvent[]): LivePiece {
  return livePiece(
    events.flatMap(({ sequenceNumber, json }) => [
      Buffer.from(`id: ${epoch}.${sequenceNumber}\ndata: `),
      json,
      lineEnd,
    ]),
  )
}

/** Tells the reader that everything up to `after` has been sent. */
export function markPiece({ epoch, sequenceNumber, revision }: Head, after: number): LivePiece {
  const mark = { next: after, head: Math.max(sequenceNumber, after), revision }
  return textPiece(`id: ${epoch}.${after}\nevent: mark\ndata: ${JSON.stringify(mark)}\n\n`)
}

/** Tells the reader that numbers have changed their meaning. */
export function resetPiece(epoch: string): LivePiece {
  return textPiece(`event: reset\ndata: ${JSON.stringify({ epoch })}\n\n`)
}

function textPiece(text: string): LivePiece {
  return livePiece([Buffer.from(text)])
}
