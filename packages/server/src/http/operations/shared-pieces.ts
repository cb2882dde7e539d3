/** What is made of the same events for many readers at the same time: the first of them has it made, for all. */
import type { StoredEvent } from '../../storage/storage.ts'

export interface SharedPieces<Piece> {
  /**
   * What is made of these events. `events`: one object for all who read the same, as `LiveTapes.read` gives it; `by`: what else it depends
   * on, compared one by one. Kept for a moment.
   */
  of(events: readonly StoredEvent[], by: readonly unknown[], make: () => Piece): Piece
}

/**
 * Those who wait for one event are woken together; those who come later have it made anew. Nothing of what is erased stays for longer
 * here either.
 */
const keptMs = 100
/** Beyond it nothing is kept: each reader has its own then. */
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
