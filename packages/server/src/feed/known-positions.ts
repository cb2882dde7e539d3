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

/** Two numbers each; the last id with an entry's hash has it. */
const entries = 131_072

export function createKnownPositions(): KnownPositions {
  const numbers = new Uint32Array(2 * entries)
  let [place, mark] = [0, 0]

  function find({ tenantId, feed }: FeedKey, id: string): void {
    let one = feed === 'property' ? 0x811c9dc5 : 0x9e3779b9
    let other = 0x85ebca6b
    for (const text of [tenantId, id]) {
      for (let index = 0; index < text.length; index += 1) {
        const code = text.charCodeAt(index)
        one = Math.imul(one ^ code, 0x01000193)
        other = Math.imul(other ^ code, 0x5bd1e995) + (one >>> 15)
      }
    }
    place = 2 * ((one ^ (one >>> 15)) & (entries - 1))
    mark = (other ^ (other >>> 13)) >>> 0
  }

  return {
    get(key, id) {
      find(key, id)
      const position = numbers[place + 1] ?? 0
      return position !== 0 && numbers[place] === mark ? position : undefined
    },
    set(key, id, position) {
      if (position >= 2 ** 32) return
      find(key, id)
      numbers[place] = mark
      numbers[place + 1] = position
    },
  }
}
