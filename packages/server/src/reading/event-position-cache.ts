/**
 * The positions of events that have been requested by id before. A partner that is notified of an event requests it by id, and so do all
 * the others: only the first pays for the look-up, 7 µs in SQLite and a query in PostgreSQL (measured manually). It is a table of a
 * megabyte, however many ids are requested, and only a hint: two ids can share an entry, so the caller compares the id of the event at
 * the position. An id keeps its position permanently, unless the store loses events, and the comparison reveals that too.
 */
import type { FeedKey } from '../events/feed-key.ts'

export interface EventPositionCache {
  /** `id`: lower case. */
  get(key: FeedKey, id: string): number | undefined
  set(key: FeedKey, id: string, position: number): void
}

/** An id can be in any entry of its row; a new one replaces the oldest. */
const rows = 32_768
const entriesPerRow = 4
/** A part of the id, and its position; 0: empty. */
const numbersPerEntry = 2
const numbersPerRow = entriesPerRow * numbersPerEntry

export function createEventPositionCache(): EventPositionCache {
  const numbers = new Uint32Array(rows * numbersPerRow)
  let [row, mark] = [0, 0]

  /** The index of the id's entry; for an id without one, the end of its row. */
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
