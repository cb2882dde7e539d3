/** Reads one segment of the file and checks that it is as it was written. */
import { isDeepStrictEqual } from 'node:util'
import { crc32 } from 'node:zlib'
import { readBytes } from './segment-index.ts'
import { keyOfSegment } from './segment-id.ts'
import type { SegmentId } from './segment-id.ts'
import type { RecordFacts, SegmentIndex } from './segment-index.ts'
import type { SegmentFacts } from './segment-cache.ts'
import { readRecord, recordStart, tableStart } from './segment-record.ts'
import { readTable, tableNumbers } from './segment.ts'
import type { SegmentTable, WholeText } from './segment.ts'

/**
 * A segment in the file, and its id. Its table stays in the file: a hundred thousand tables would be 50 MB. It has fields of its own and
 * is itself the entry for kept bytes. If many object literals from one place live long, V8 makes all of them old from the start, also
 * those for one answer, and lets tens of megabytes of them pile up.
 */
export class StoredSegment implements SegmentFacts, SegmentId {
  readonly series: string
  readonly number: number
  readonly joinedLength: number
  readonly deflatedLength: number
  readonly joinedChecked: boolean
  readonly #at: number
  readonly #joinedCrc: number
  readonly #deflatedCrc: number
  readonly #crc: number
  readonly #shift: number
  readonly #tableChecked: boolean
  readonly #deflatedChecked: boolean
  readonly #file: number
  readonly #index: SegmentIndex
  #table: SegmentTable | undefined

  constructor(file: number, index: SegmentIndex, { series, number }: SegmentId, facts: RecordFacts) {
    this.series = series
    this.number = number
    this.joinedLength = facts.joinedLength
    this.deflatedLength = facts.deflatedLength
    this.joinedChecked = facts.joinedChecked
    this.#at = facts.at
    this.#joinedCrc = facts.joinedCrc
    this.#deflatedCrc = facts.deflatedCrc
    this.#crc = facts.crc
    this.#shift = facts.shift
    this.#tableChecked = facts.tableChecked
    this.#deflatedChecked = facts.deflatedChecked
    this.#file = file
    this.#index = index
  }

  /** True if its record is where the index says, which is checked once. Only then can the rest be used. */
  isRecorded(): boolean {
    if (this.#tableChecked) return true
    const record = readRecord(this.#file, recordStart(this, this.#at), Infinity)
    const known = this.#index.get(this)
    if (
      record?.key !== keyOfSegment(this) ||
      !isDeepStrictEqual({ ...record.facts, tableChecked: false }, known)
    )
      return false
    this.#note({ tableChecked: true })
    return true
  }

  /** Everything that a page needs to know about a segment that it uses whole. */
  get whole(): WholeText {
    return { textLength: this.joinedLength, crc: this.#crc, shift: this.#shift }
  }

  /** Read on first use and then kept. Throws if it cannot be read. */
  table(): SegmentTable {
    this.#table ??= this.#readTable()
    return this.#table
  }

  #readTable(): SegmentTable {
    const numbers = new Uint32Array(tableNumbers)
    if (!readBytes(this.#file, numbers, tableStart(this.#at))) throw new Error('a table cannot be read')
    return readTable(numbers)
  }

  /** The place of `count` events from `index` on in the joined bytes; `undefined` if the file cannot be read. */
  readSpan(index: number, count: number): readonly [from: number, to: number] | undefined {
    return this.#index.starts.span(this.#file, tableStart(this.#at), index, count)
  }

  /**
   * Reads joined bytes into `target`: all of them or, once they have been checked, those from `from` on. False: they are not as they were
   * written (after a crash), or have not been checked yet.
   */
  readJoined(target: Buffer, from: number): boolean {
    if (!readBytes(this.#file, target, this.#at + from)) return false
    if (this.joinedChecked) return true
    if (target.length !== this.joinedLength || crc32(target) !== this.#joinedCrc) return false
    this.#note({ joinedChecked: true })
    return true
  }

  /** Reads all deflated bytes. False: they are not as they were written. */
  readDeflated(target: Buffer): boolean {
    if (!readBytes(this.#file, target, this.#at + this.joinedLength)) return false
    if (this.#deflatedChecked) return true
    if (crc32(target) !== this.#deflatedCrc) return false
    this.#note({ deflatedChecked: true })
    return true
  }

  #note(checked: Partial<RecordFacts>): void {
    const known = this.#index.get(this)
    if (known !== undefined) this.#index.set(this, { ...known, ...checked })
  }
}

/** Any thread of the process may read with the file's descriptor. */
export function storedSegment(file: number, index: SegmentIndex, id: SegmentId): StoredSegment | undefined {
  const facts = index.get(id)
  return facts && new StoredSegment(file, index, id, facts)
}
