/**
 * Says where the segments of a file are and what is known of them, as numbers in columns: 64 bytes a segment. Ten million events have
 * 100,000 segments of one view; an object for each would take 75 MB and as many steps at every start.
 */

import { readSync } from 'node:fs'
import type { SegmentId } from './segment-id.ts'
import { eventsPerSegment } from './segment.ts'

/** What is known of a segment in a file. */
export interface RecordFacts {
  /** Where the joined bytes begin; never 0. */
  readonly at: number
  readonly joinedLength: number
  readonly deflatedLength: number
  readonly joinedCrc: number
  readonly deflatedCrc: number
  /** The sums of the whole text, with which its table ends. */
  readonly crc: number
  readonly shift: number
  /** Whether head, key and table are known to be as they were written: by this process, flushed by an earlier one, or checked since. */
  readonly tableChecked: boolean
  /** The same for the joined and the deflated bytes. */
  readonly joinedChecked: boolean
  readonly deflatedChecked: boolean
}

/**
 * The segments of one view of one feed in one state, by number: eight columns each, of which the first is 0 where there
 * is no segment.
 */
export interface SegmentSeries {
  readonly name: string
  readonly numbers: Float64Array
}

/** Hears which series have segments. */
export interface SeriesWatcher {
  /** This series now has segments. */
  added(name: string): void
  /** No series has segments any longer. */
  cleared(): void
}

export interface SegmentIndex {
  get(id: SegmentId): RecordFacts | undefined
  set(id: SegmentId, facts: RecordFacts): void
  /** The index of starts for the same file. */
  readonly starts: SegmentStartCache
  clear(): void
  /** Forgets the series with this prefix and returns them. */
  forget(prefix: string): readonly SegmentSeries[]
  /** From now on every record counts as unchecked. */
  doubt(): void
  /** The watcher hears at once of the series that exist. */
  watch(watcher: SeriesWatcher): void
  /** The whole index, as copies. */
  series(): readonly SegmentSeries[]
}

const columns = 8
const roomForSegments = 64
const joinedBit = 1
const deflatedBit = 2
const tableBit = 4

/** Where the joined bytes of each segment of a series begin, and how many bytes follow from there. */
export function placesOf({ name, numbers }: SegmentSeries): readonly SegmentAddress[] {
  const places: SegmentAddress[] = []
  for (let number = 0; number * columns < numbers.length; number += 1) {
    const [at = 0, joinedLength = 0, deflatedLength = 0] = numbers.subarray(number * columns)
    if (at !== 0) places.push({ id: { series: name, number }, at, byteLength: joinedLength + deflatedLength })
  }
  return places
}

export interface SegmentAddress {
  readonly id: SegmentId
  readonly at: number
  readonly byteLength: number
}

/** Starts with the result of another index's `series`. */
export function createSegmentIndex(given: readonly SegmentSeries[] = []): SegmentIndex {
  const starts = createSegmentStartCache()
  const all = new Map(given.map(({ name, numbers }) => [name, numbers]))
  const watchers: SeriesWatcher[] = []

  /** Makes room for the number, in doubling steps, so that numbers added one after another are copied twice at most. */
  function grown(name: string, number: number): Float64Array {
    const given = all.get(name)
    const known = given ?? new Float64Array(roomForSegments * columns)
    const wanted = (number + 1) * columns
    const numbers = known.length >= wanted ? known : new Float64Array(Math.max(wanted, 2 * known.length))
    if (numbers !== known) numbers.set(known)
    all.set(name, numbers)
    if (given === undefined) for (const watcher of watchers) watcher.added(name)
    return numbers
  }

  return {
    get({ series, number }) {
      const numbers = all.get(series)
      const column = (index: number): number => numbers?.[number * columns + index] ?? 0
      const at = column(0)
      if (at === 0) return undefined
      return {
        at,
        joinedLength: column(1),
        deflatedLength: column(2),
        joinedCrc: column(3),
        deflatedCrc: column(4),
        crc: column(5),
        shift: column(6),
        tableChecked: (column(7) & tableBit) !== 0,
        joinedChecked: (column(7) & joinedBit) !== 0,
        deflatedChecked: (column(7) & deflatedBit) !== 0,
      }
    },
    set({ series, number }, facts) {
      const { at, joinedLength, deflatedLength, joinedCrc, deflatedCrc, crc, shift } = facts
      const checked =
        (facts.joinedChecked ? joinedBit : 0) |
        (facts.deflatedChecked ? deflatedBit : 0) |
        (facts.tableChecked ? tableBit : 0)
      const row = [at, joinedLength, deflatedLength, joinedCrc, deflatedCrc, crc, shift, checked]
      grown(series, number).set(row, number * columns)
    },
    starts,
    clear() {
      all.clear()
      starts.clear()
      for (const watcher of watchers) watcher.cleared()
    },
    forget(prefix) {
      const series = [...all].filter(([name]) => name.startsWith(prefix))
      for (const [name] of series) all.delete(name)
      return series.map(([name, numbers]) => ({ name, numbers }))
    },
    doubt() {
      for (const numbers of all.values()) {
        for (let at = columns - 1; at < numbers.length; at += columns) numbers[at] = 0
      }
    },
    watch(watcher) {
      watchers.push(watcher)
      for (const name of all.keys()) watcher.added(name)
    },
    series: () => [...all].map(([name, numbers]) => ({ name, numbers: numbers.slice() })),
  }
}

/**
 * Remembers where the events of a file's segments begin, for segments that were recently asked for. Single events are cut out with it.
 * For ten million events all of it would be 40 MB. This takes 3.3 MB at most, for 8,192 segments, and uses memory only as it fills.
 */
interface SegmentStartCache {
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

/** Fills `target` with the bytes at `at`. False: the file ends before, or the disk does not return them. */
export function readBytes(file: number, target: Uint8Array | Uint32Array, at: number): boolean {
  try {
    return readSync(file, target, 0, target.byteLength, at) === target.byteLength
  } catch {
    // The file is derived data, so bytes that cannot be read count as missing.
    return false
  }
}
