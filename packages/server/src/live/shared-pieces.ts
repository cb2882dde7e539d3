/** Shares what is made from the same events between readers that are woken together: the first reader makes it, the others reuse it. */
import type { StoredEvent } from '../events/event-log.ts'

interface SharedPieces<Piece> {
  /**
   * Returns the piece made from these events, and makes it if nobody has yet. `events`: the array that `BroadcastBuffers.read` gives to all readers
   * of the same place. `by`: everything else that the piece depends on, compared one by one.
   */
  of(events: readonly StoredEvent[], by: readonly unknown[], make: () => Piece): Piece
}

/**
 * Readers of one event are woken together, so a tenth of a second is enough. A later reader makes its own piece. Erased payloads do not stay
 * here longer either.
 */
const keptMs = 100
/** When this is full, each further reader makes its own piece. */
const mostKeptBytes = 8 * 2 ** 20

interface Kept<Piece> {
  readonly by: readonly unknown[]
  readonly piece: Piece
}

export function sharedPieces<Piece>(bytesOf: (piece: Piece) => number): SharedPieces<Piece> {
  let kept = new Map<readonly StoredEvent[], Kept<Piece>[]>()
  let bytes = 0

  function clear(): void {
    kept = new Map()
    bytes = 0
  }

  return {
    of(events, by, make) {
      const ofEvents = kept.get(events)
      const known = ofEvents?.find((one) => by.every((value, index) => one.by[index] === value))
      if (known !== undefined) return known.piece
      const piece = make()
      const length = bytesOf(piece)
      if (bytes + length > mostKeptBytes) return piece
      if (kept.size === 0) setTimeout(clear, keptMs).unref()
      bytes += length
      if (ofEvents === undefined) kept.set(events, [{ by, piece }])
      else ofEvents.push({ by, piece })
      return piece
    },
  }
}
