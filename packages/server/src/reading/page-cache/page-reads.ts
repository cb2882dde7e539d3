/** What pages read from a store, in the form that their readers see. */
import type { PageRange } from '../list.ts'
import { represent } from '../representation/representation.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { EventStore } from '../../events/event-log.ts'

/** What pages need from a store. */
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
    // Judged by the stored lengths, which the shown events exceed by a few letters at most.
    readRangeWithin: (range, maxBytes) => seen(events.readRangeWithin(range, maxBytes), range),
    measureRange: (range) =>
      range.form?.narrow === undefined ? events.measureRange(range) : measured(events, range),
  }
}

/** The bytes belong to the reader, so they can be changed in place. */
function seen<Pieces extends readonly Uint8Array[] | undefined>(
  reading: Promise<Pieces>,
  { form }: PageRange,
): Promise<Pieces | readonly Uint8Array[]> {
  if (form === undefined) return reading
  return reading.then((pieces) => {
    if (pieces === undefined || pieces.length === 0) return pieces
    const [first] = pieces
    if (first !== undefined && pieces.length === 1) return [represent(first, form)]
    const joined = Buffer.concat(pieces)
    pieces.forEach(freeBytes)
    return [represent(joined, form)]
  })
}

/** Only the events themselves tell the length of events that are made shorter. */
async function measured(events: RangeReads, range: PageRange): Promise<readonly number[]> {
  const lengths: number[] = []
  for (let n = 0; n < range.count; n += 1) {
    const pieces = await seen(events.readRange({ ...range, first: range.first + n, count: 1 }), range)
    if (pieces.length > 0) lengths.push(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0))
    pieces.forEach(freeBytes)
  }
  return lengths
}
