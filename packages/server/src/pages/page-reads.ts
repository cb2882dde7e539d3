/** What pages read of a store, as their readers are to see it. */
import type { PageRange } from '../feed/list.ts'
import { formed } from '../feed/reader-form.ts'
import { freeBytes } from '../free-bytes.ts'
import type { EventStore } from '../storage/storage.ts'

/** What pages need of a store. */
export type RangeReads = Pick<EventStore, 'readRange' | 'readRangeWithin' | 'measureRange'>

/** The same for ranges with a form. */
export interface PageReads extends RangeReads {
  readRange(range: PageRange): Promise<readonly Uint8Array[]>
  readRangeWithin(range: PageRange, maxBytes: number): Promise<readonly Uint8Array[] | undefined>
  measureRange(range: PageRange): Promise<readonly number[]>
}

export function pageReads(events: RangeReads): PageReads {
  const readRange = (range: PageRange) => seen(events.readRange(range), range)
  return {
    readRange,
    // By the lengths that are stored, which are no shorter but for a few letters.
    readRangeWithin: (range, maxBytes) => seen(events.readRangeWithin(range, maxBytes), range),
    measureRange: (range) =>
      range.form?.narrow === undefined ? events.measureRange(range) : measured(events, range),
  }
}

/** The bytes are the reader's own, so they can be changed where they lie. */
function seen<Pieces extends readonly Uint8Array[] | undefined>(
  reading: Promise<Pieces>,
  { form }: PageRange,
): Promise<Pieces | readonly Uint8Array[]> {
  if (form === undefined) return reading
  return reading.then((pieces) => {
    if (pieces === undefined || pieces.length === 0) return pieces
    const [first] = pieces
    if (first !== undefined && pieces.length === 1) return [formed(first, form)]
    const joined = Buffer.concat(pieces)
    pieces.forEach(freeBytes)
    return [formed(joined, form)]
  })
}

/** Of events that are made shorter nothing tells the length but the events. */
async function measured(events: RangeReads, range: PageRange): Promise<readonly number[]> {
  const lengths: number[] = []
  for (let n = 0; n < range.count; n += 1) {
    const pieces = await seen(events.readRange({ ...range, first: range.first + n, count: 1 }), range)
    if (pieces.length > 0) lengths.push(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0))
    pieces.forEach(freeBytes)
  }
  return lengths
}
