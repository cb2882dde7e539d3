/**
 * Remembers where the events of a file's segments begin, for segments that were recently asked for. Single events are cut out with it.
 * For ten million events all of it would be 40 MB. This takes 3.3 MB at most, for 8,192 segments, and uses memory only as it fills.
 */
import { readBytes } from './read-bytes.ts'
import { eventsPerSegment } from './segment.ts'

export interface SegmentStartCache {
  /**
   * The place of `count` events from `index` on in the joined bytes of the segment whose table begins at `tableAt`, which is never 0. It
   * reads the file if it does not know the place; `undefined` if that fails.
   */
  span(
    file: number,
    tableAt: number,
    index: number,
    count: number,
  ): readonly [from: number, to: number] | undefined
  /** The file was emptied. */
  clear(): void
}

/** As many as numbers of 13 bits. */
const segments = 8_192
const startsPerSegment = eventsPerSegment + 1

export function createSegmentStartCache(): SegmentStartCache {
  /** The table that each row comes from; 0: none. */
  const tables = new Float64Array(segments)
  let starts: Uint32Array | undefined

  return {
    span(file, tableAt, index, count) {
      starts ??= new Uint32Array(segments * startsPerSegment)
      // The 13 highest bits of a product, which all bits of the place affect.
      const row = Math.imul(tableAt % 2 ** 32, 0x9e3779b1) >>> 19
      const first = row * startsPerSegment
      if (tables[row] !== tableAt) {
        tables[row] = 0
        // The table begins with the starts.
        if (!readBytes(file, starts.subarray(first, first + startsPerSegment), tableAt)) return undefined
        tables[row] = tableAt
      }
      return [starts[first + index] ?? 0, (starts[first + index + count] ?? 1) - 1]
    },
    clear: () => void tables.fill(0),
  }
}
