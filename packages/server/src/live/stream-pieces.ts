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

interface SharedPieces<Piece> {
  /**
   * Returns the piece made from these events, and makes it if nobody has yet. `events`: the array that `ReadBuffer` gives to all readers
   * of the same place. `by`: everything else that the piece depends on, compared one by one.
   */
  of(events: readonly StoredEvent[], by: readonly unknown[], make: () => Piece): Piece
}

/**
 * Readers of one event are woken together, so a tenth of a second is enough. A later reader makes its own piece. Erased payloads do not stay
 * here longer either.
 */
const cacheMs = 100
/** When this is full, each further reader makes its own piece. */
const cacheBytes = 8 * 2 ** 20

interface CachedPiece<Piece> {
  readonly by: readonly unknown[]
  readonly piece: Piece
}

/** Shares what is made from the same events between readers that are woken together: the first reader makes it, the others reuse it. */
export function sharedPieces<Piece>(bytesOf: (piece: Piece) => number): SharedPieces<Piece> {
  let cache = new Map<readonly StoredEvent[], CachedPiece<Piece>[]>()
  let bytes = 0

  function clear(): void {
    cache = new Map()
    bytes = 0
  }

  return {
    of(events, by, make) {
      const ofEvents = cache.get(events)
      const cached = ofEvents?.find((one) => by.every((value, index) => one.by[index] === value))
      if (cached !== undefined) return cached.piece
      const piece = make()
      const length = bytesOf(piece)
      if (bytes + length > cacheBytes) return piece
      if (cache.size === 0) setTimeout(clear, cacheMs).unref()
      bytes += length
      if (ofEvents === undefined) cache.set(events, [{ by, piece }])
      else ofEvents.push({ by, piece })
      return piece
    },
  }
}
