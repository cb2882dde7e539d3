/**
 * Segments in one file beside the store: appended once, read with one `pread` each. It is derived data: flushed only when
 * it is closed, dropped and made again when a part of it is found not to be what was written, or cannot be read.
 *
 * A record: head (7 numbers of 32 bits, little endian: magic, key length, joined length, deflated length, CRC of
 * joined, CRC of deflated, CRC of head, key and table), key, table, joined bytes, deflated bytes.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, writevSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { crc32 } from 'node:zlib'
import { forgetIndexNote, leaveClosingNote, leaveIndexNote, readIndexNote } from './index-note.ts'
import { readBytes } from './read-bytes.ts'
import { createSegmentIndex } from './segment-index.ts'
import { keyOfSegment, segmentOfKey } from './segment-id.ts'
import type { SegmentId } from './segment-id.ts'
import type { RecordFacts, SegmentIndex } from './segment-index.ts'
import type { SegmentFacts } from './segment-memory.ts'
import { readTable, tableNumbers, writeTable } from './segment.ts'
import type { Segment, SegmentTable, WholeText } from './segment.ts'

const magic = 0x31534550 // 'PES1'
const headBytes = 28
const tableBytes = tableNumbers * 4
const maxKeyBytes = 512

/** As whoever makes pages uses it, be it their own or one of several threads. */
export interface SegmentFile {
  get(id: SegmentId): StoredSegment | undefined
  /** What is in the file, as numbers. */
  readonly index: SegmentIndex
  /** Appends; without effect when the segment is there, or does not fit into the file or on the disk. */
  put(id: SegmentId, segment: Segment): void
  /** Whether what was last put did not fit. */
  isFull(): boolean
  /** Forgets everything and gives the disk space back. */
  clear(): void
  close(): void
}

export interface OpenSegmentFile extends SegmentFile {
  readonly descriptor: number
  readonly byteLength: number
}

/**
 * After a crash this much of the file, or an eighth if that is more, has to be looked through record by record: 120 us each where
 * the disk has to be asked.
 */
const defaultNotedEveryBytes = 64 * 2 ** 20

/**
 * Opens or makes the file. Records that end properly are taken over; what follows a torn one is cut off. `notedEveryBytes`: a note
 * of the index is left when so much, or an eighth of the file, was added since the last.
 */
export function openSegmentFile(
  path: string,
  maxBytes: number,
  notedEveryBytes = defaultNotedEveryBytes,
): OpenSegmentFile {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const note = readIndexNote(path, file)
  const index = createSegmentIndex(note?.series)
  if (note?.closed === false) index.doubt()
  let noted = note?.end ?? 0
  let end = readRecords(file, noted, index)
  let full = false
  // Where there is nothing to cut off, the time of the last change is left as it is.
  if (end < fstatSync(file).size) ftruncateSync(file, end)

  function noteProgress(): void {
    if (end - noted < Math.max(notedEveryBytes, end / 8)) return
    leaveIndexNote(path, end, index.series())
    noted = end
  }
  noteProgress()

  /** Whether there was room for all of it; if not, the file stays as it was. */
  function append(parts: readonly Uint8Array[], length: number): boolean {
    try {
      if (writevSync(file, parts, end) === length) return true
    } catch {
      // The disk is full to the last byte, or takes nothing any more.
    }
    cutOff(end)
    return false
  }

  /** What cannot be cut off is never read, and written over: nothing says that it is there. */
  function cutOff(from: number): void {
    try {
      ftruncateSync(file, from)
    } catch {
      // As above.
    }
  }

  return {
    descriptor: file,
    index,
    get byteLength() {
      return end
    },
    get: (id) => storedSegment(file, index, id),
    put(id, segment) {
      const { table, joined, deflated } = segment
      const keyBytes = Buffer.from(keyOfSegment(id))
      const numbers = writeTable(table)
      const length = headBytes + keyBytes.length + tableBytes + joined.byteLength + deflated.byteLength
      if (index.get(id) !== undefined || keyBytes.length > maxKeyBytes) return
      full = end + length > maxBytes
      if (full) return
      const joinedCrc = crc32(joined)
      const deflatedCrc = crc32(deflated)
      const head = Buffer.alloc(headBytes)
      const fields = [magic, keyBytes.length, joined.byteLength, deflated.byteLength, joinedCrc, deflatedCrc]
      for (const [index, field] of fields.entries()) head.writeUInt32LE(field, index * 4)
      const tableBuffer = Buffer.from(numbers.buffer)
      head.writeUInt32LE(headCrc(head, keyBytes, tableBuffer), 24)
      full = !append([head, keyBytes, tableBuffer, joined, deflated], length)
      if (full) return
      const at = end + headBytes + keyBytes.length + tableBytes
      const [joinedLength, deflatedLength] = [joined.byteLength, deflated.byteLength]
      const { crc, shift } = table
      const checked = { tableChecked: true, joinedChecked: true, deflatedChecked: true }
      index.set(id, { at, joinedLength, deflatedLength, joinedCrc, deflatedCrc, crc, shift, ...checked })
      end += length
      noteProgress()
    },
    isFull: () => full,
    clear() {
      index.clear()
      forgetIndexNote(path)
      cutOff(0)
      end = 0
      noted = 0
      full = false
    },
    close() {
      leaveClosingNote(path, file, end, index.series())
      closeSync(file)
    },
  }
}

/**
 * A segment in the file, and its id. Its table stays there: a hundred thousand of them would be 50 MB. What is known of it are
 * fields of its own, and it is what is remembered of bytes that are kept: V8 makes object literals of which many were kept old
 * from the start, those for one answer as well, and lets tens of megabytes of them pile up.
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

  /** Whether its record stands where the index says; looked at once. What else is read of it can be believed only then. */
  isRecorded(): boolean {
    if (this.#tableChecked) return true
    const key = keyOfSegment(this)
    const start = this.#at - tableBytes - Buffer.byteLength(key) - headBytes
    const record = readRecord(this.#file, start, Infinity)
    const known = this.#index.get(this)
    if (record?.key !== key || !isDeepStrictEqual({ ...record.facts, tableChecked: false }, known))
      return false
    this.#note({ tableChecked: true })
    return true
  }

  /** All that a page needs to know of a segment that it takes whole. */
  get whole(): WholeText {
    return { textLength: this.joinedLength, crc: this.#crc, shift: this.#shift }
  }

  /** Read when it is first asked for, and not again. Throws when that is not possible. */
  table(): SegmentTable {
    this.#table ??= this.#readTable()
    return this.#table
  }

  #readTable(): SegmentTable {
    const numbers = new Uint32Array(tableNumbers)
    if (!readBytes(this.#file, numbers, this.#at - tableBytes)) throw new Error('a table cannot be read')
    return readTable(numbers)
  }

  /** Where `count` events from `index` on stand in the joined bytes; `undefined` when the file does not tell. */
  readSpan(index: number, count: number): readonly [from: number, to: number] | undefined {
    return this.#index.starts.span(this.#file, this.#at - tableBytes, index, count)
  }

  /**
   * Reads joined bytes into `target`: all of them or, once they were found to be what was written, those from `from` on.
   * False: they are not (a crash took them), or nobody has looked yet.
   */
  readJoined(target: Buffer, from: number): boolean {
    if (!readBytes(this.#file, target, this.#at + from)) return false
    if (this.joinedChecked) return true
    if (target.length !== this.joinedLength || crc32(target) !== this.#joinedCrc) return false
    this.#note({ joinedChecked: true })
    return true
  }

  /** Reads all deflated bytes. False: they are not what was written. */
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

/** Any thread of the process may read by the file's descriptor. */
export function storedSegment(file: number, index: SegmentIndex, id: SegmentId): StoredSegment | undefined {
  const facts = index.get(id)
  return facts && new StoredSegment(file, index, id, facts)
}

/** Puts the records behind `start` into the index, and says where the last whole one ends. Their bytes are not looked at. */
function readRecords(file: number, start: number, index: SegmentIndex): number {
  const { size } = fstatSync(file)
  let end = start
  for (;;) {
    const record = readRecord(file, end, size)
    if (record === undefined) return end
    index.set(segmentOfKey(record.key), record.facts)
    end = record.end
  }
}

function readRecord(
  file: number,
  start: number,
  size: number,
): { readonly key: string; readonly facts: RecordFacts; readonly end: number } | undefined {
  const head = Buffer.alloc(headBytes)
  if (!readBytes(file, head, start) || head.readUInt32LE(0) !== magic) return undefined
  const [keyLength, joinedLength, deflatedLength, joinedCrc, deflatedCrc, storedCrc] = [
    4, 8, 12, 16, 20, 24,
  ].map((at) => head.readUInt32LE(at))
  if (keyLength === undefined || joinedLength === undefined || deflatedLength === undefined) return undefined
  if (joinedCrc === undefined || deflatedCrc === undefined || keyLength > maxKeyBytes) return undefined
  const rest = Buffer.alloc(keyLength + tableBytes)
  if (!readBytes(file, rest, start + headBytes)) return undefined
  const keyBytes = rest.subarray(0, keyLength)
  const tableBuffer = rest.subarray(keyLength)
  if (headCrc(head, keyBytes, tableBuffer) !== storedCrc) return undefined
  const at = start + headBytes + rest.length
  const end = at + joinedLength + deflatedLength
  if (end > size) return undefined
  const checked = { tableChecked: true, joinedChecked: false, deflatedChecked: false }
  const sums = { joinedCrc, deflatedCrc, ...wholeSums(tableBuffer) }
  return { key: keyBytes.toString(), facts: { at, joinedLength, deflatedLength, ...sums, ...checked }, end }
}

/** A table ends with the checksum and the shift of the whole segment. */
function wholeSums(table: Buffer): Pick<WholeText, 'crc' | 'shift'> {
  const numbers = new Uint32Array(tableNumbers)
  table.copy(Buffer.from(numbers.buffer))
  const { crc, shift } = readTable(numbers)
  return { crc, shift }
}

/** Of all a record's index is made from. The table's numbers are this machine's; the file never leaves it. */
function headCrc(head: Buffer, key: Buffer, table: Buffer): number {
  return crc32(table, crc32(key, crc32(head.subarray(0, 24))))
}
