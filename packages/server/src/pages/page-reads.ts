/** What pages read of a store, as their readers are to see it. */
import type { PageRange } from '../feed/list.ts'
import { renumber } from '../feed/numbering.ts'
import type { EventStore } from '../storage/storage.ts'

/** What pages need of a store. */
export type RangeReads = Pick<EventStore, 'readRange' | 'readRangeWithin' | 'measureRange'>

/** The same for ranges with a numbering. No event has another length for it. */
export interface PageReads extends RangeReads {
  readRange(range: PageRange): Promise<readonly Uint8Array[]>
  readRangeWithin(range: PageRange, maxBytes: number): Promise<readonly Uint8Array[] | undefined>
}

export function pageReads(events: RangeReads): PageReads {
  return {
    readRange: (range) => seen(events.readRange(range), range),
    readRangeWithin: (range, maxBytes) => seen(events.readRangeWithin(range, maxBytes), range),
    measureRange: (range) => events.measureRange(range),
  }
}

/** The bytes are the reader's own, so they can be changed where they lie. */
function seen<Pieces extends readonly Uint8Array[] | undefined>(
  reading: Promise<Pieces>,
  { numbering }: PageRange,
): Promise<Pieces> {
  if (numbering === undefined) return reading
  return reading.then((pieces) => {
    for (const piece of pieces ?? []) renumber(piece, numbering)
    return pieces
  })
}
