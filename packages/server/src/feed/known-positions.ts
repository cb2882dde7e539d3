/**
 * Where events stand that were asked for by id before. A partner that is told of an event asks for it by id, and so do all
 * others: who comes first pays for the look-up, 7 us in SQLite and a question to PostgreSQL.
 *
 * It is a table of a megabyte, whatever is asked, and a hint: two ids may share an entry, so whoever reads at a position looks
 * at what stands there. What an id once led to it leads to for good, save the loss of a store, and that shows the same way.
 */
import type { FeedKey } from '../storage/storage.ts'

export interface KnownPositions {
  /** `id`: lower case. */
  get(key: FeedKey, id: string): number | undefined
  set(key: FeedKey, id: string, position: number): void
}

/** An id may stand in any entry of its row; the one that came last takes the place of the oldest. */
const rows = 32_768
const entriesPerRow = 4
/** What is left of the id, and its position; 0: nothing. */
const numbersPerEntry = 2
const numbersPerRow = entriesPerRow * numbersPerEntry

export function createKnownPositions(): KnownPositions {
  const numbers = new Uint32Array(rows * numbersPerRow)
  let [row, mark] = [0, 0]

  /** Where the id's entry begins; of an id without one, the end of its row. */
  function find({ tenantId, feed }: FeedKey, id: string): number {
    let one = feed === 'property' ? 0x811c9dc5 : 0x9e3779b9
    let other = 0x85ebca6b
    for (const text of [tenantId, id]) {
      for (let index = 0; index < text.length; index += 1) {
        const code = text.charCodeAt(index)
        one = Math.imul(one ^ code, 0x01000193)
        other = Math.imul(other ^ code, 0x5bd1e995) + (one >>> 15)
      }
    }
    row = numbersPerRow * ((one ^ (one >>> 15)) & (rows - 1))
    mark = (other ^ (other >>> 13)) >>> 0
    const end = row + numbersPerRow
    let entry = row
    while (entry < end && (numbers[entry] !== mark || numbers[entry + 1] === 0)) entry += numbersPerEntry
    return entry
  }

  return {
    get(key, id) {
      const entry = find(key, id)
      return entry === row + numbersPerRow ? undefined : numbers[entry + 1]
    },
    set(key, id, position) {
      if (position >= 2 ** 32) return
      const known = find(key, id)
      if (known === row + numbersPerRow) {
        numbers.copyWithin(row + numbersPerEntry, row, row + numbersPerRow - numbersPerEntry)
        numbers[row] = mark
        numbers[row + 1] = position
      } else numbers[known + 1] = position
    },
  }
}
