/**
 * Segments in one file beside the store: appended once, read with one `pread` each. It is derived data: flushed only when
 * it is closed, dropped and made again whenever anything about it is doubtful.
 *
 * A record: head (7 numbers of 32 bits, little endian: magic, key length, joined length, deflated length, CRC of
 * joined, CRC of deflated, CRC of head, key and table), key, table, joined bytes, deflated bytes.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writevSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { leaveCloseNote, takeCloseNote } from './clean-close.ts'
import { eventsPerSegment, readTable, tableNumbers, writeTable } from './segment.ts'
import type { Segment, SegmentTable, WholeText } from './segment.ts'

const magic = 0x31534550 // 'PES1'
const headBytes = 28
const tableBytes = tableNumbers * 4
const maxKeyBytes = 512

/** Where a record stands in the file, and what is known of it: all that another thread needs to read it. */
export interface SegmentPlace {
  readonly key: string
  /** Of its joined bytes. */
  readonly at: number
  readonly facts: RecordFacts
}

export interface SegmentFile {
  get(key: string): StoredSegment | undefined
  keys(): Iterable<string>
  /** Appends; without effect when the key is there or the file is full. */
  put(key: string, segment: Segment): void
  readonly descriptor: number
  readonly byteLength: number
  /** Forgets everything and gives the disk space back. */
  clear(): void
  close(): void
}

/** Opens or makes the file. Records that end properly are taken over; what follows a torn one is cut off. */
export function openSegmentFile(path: string, maxBytes: number): SegmentFile {
  const file = openSync(path, 'a+', 0o600)
  const segments = new Map<string, StoredSegment>()
  const checked = takeCloseNote(path, file)
  let end = 0
  for (;;) {
    const record = readRecord(file, end, checked)
    if (record === undefined) break
    segments.set(record.key, record.segment)
    end = record.end
  }
  ftruncateSync(file, end)

  return {
    descriptor: file,
    get byteLength() {
      return end
    },
    get: (key) => segments.get(key),
    keys: () => segments.keys(),
    put(key, segment) {
      const { table, joined, deflated } = segment
      const keyBytes = Buffer.from(key)
      const numbers = writeTable(table)
      const length = headBytes + keyBytes.length + tableBytes + joined.byteLength + deflated.byteLength
      if (segments.has(key) || end + length > maxBytes || keyBytes.length > maxKeyBytes) return
      const joinedCrc = crc32(joined)
      const deflatedCrc = crc32(deflated)
      const head = Buffer.alloc(headBytes)
      const fields = [magic, keyBytes.length, joined.byteLength, deflated.byteLength, joinedCrc, deflatedCrc]
      for (const [index, field] of fields.entries()) head.writeUInt32LE(field, index * 4)
      const tableBuffer = Buffer.from(numbers.buffer)
      head.writeUInt32LE(headCrc(head, keyBytes, tableBuffer), 24)
      const parts = [head, keyBytes, tableBuffer, joined, deflated]
      if (writevSync(file, parts) !== length) {
        // The disk is full: what was written in part is cut off, and the file stays as it was.
        ftruncateSync(file, end)
        return
      }
      const at = end + headBytes + keyBytes.length + tableBytes
      const lengths = { joinedLength: joined.byteLength, deflatedLength: deflated.byteLength }
      const { crc, shift } = table
      const facts = { ...lengths, joinedCrc, deflatedCrc, crc, shift, checked: true }
      segments.set(key, new StoredSegment(file, { key, at, facts }))
      end += length
    },
    clear() {
      segments.clear()
      ftruncateSync(file, 0)
      end = 0
    },
    close() {
      if ([...segments.values()].every((segment) => segment.isWhole)) leaveCloseNote(path, file)
      closeSync(file)
    },
  }
}

export interface RecordFacts {
  readonly joinedLength: number
  readonly deflatedLength: number
  readonly joinedCrc: number
  readonly deflatedCrc: number
  /** Of the whole text: its table ends with them. */
  readonly crc: number
  readonly shift: number
  /** Written by this process, or flushed by one before: what comes back needs no second look. */
  readonly checked: boolean
}

/** For one read at a time: nothing is kept in it. */
const scratchNumbers = new Uint32Array(eventsPerSegment + 1)
const scratch = Buffer.from(scratchNumbers.buffer)

/**
 * A segment in the file; any thread of the process may read by its descriptor. Its table stays in the file: a hundred
 * thousand of them would be 50 MB. A million events have 16,000 of these, so they hold plain numbers: 0.3 kB each.
 */
export class StoredSegment {
  readonly key: string
  readonly joinedLength: number
  readonly deflatedLength: number
  readonly #file: number
  readonly #at: number
  readonly #joinedCrc: number
  readonly #deflatedCrc: number
  readonly #crc: number
  readonly #shift: number
  #joinedChecked: boolean
  #deflatedChecked: boolean

  constructor(file: number, { key, at, facts }: SegmentPlace) {
    this.key = key
    this.joinedLength = facts.joinedLength
    this.deflatedLength = facts.deflatedLength
    this.#file = file
    this.#at = at
    this.#joinedCrc = facts.joinedCrc
    this.#deflatedCrc = facts.deflatedCrc
    this.#crc = facts.crc
    this.#shift = facts.shift
    this.#joinedChecked = facts.checked
    this.#deflatedChecked = facts.checked
  }

  get place(): SegmentPlace {
    const { key, joinedLength, deflatedLength } = this
    const sums = {
      joinedCrc: this.#joinedCrc,
      deflatedCrc: this.#deflatedCrc,
      crc: this.#crc,
      shift: this.#shift,
    }
    const facts = { joinedLength, deflatedLength, ...sums, checked: this.isWhole }
    return { key, at: this.#at, facts }
  }

  /** All that a page needs to know of a segment that it takes whole. */
  get whole(): WholeText {
    return { textLength: this.joinedLength, crc: this.#crc, shift: this.#shift }
  }

  /** Whether all of the joined bytes were found whole since the file was opened: only then may parts of them be read. */
  get joinedIsWhole(): boolean {
    return this.#joinedChecked
  }

  /** Whether that is so of the deflated bytes too. */
  get isWhole(): boolean {
    return this.#joinedChecked && this.#deflatedChecked
  }

  readTable(): SegmentTable {
    const numbers = new Uint32Array(tableNumbers)
    readSync(this.#file, numbers, 0, tableBytes, this.#at - tableBytes)
    return readTable(numbers)
  }

  /** Where `count` events from `index` on stand in the joined bytes; without reading the rest of the table. */
  readSpan(index: number, count: number): readonly [from: number, to: number] {
    // The table begins with the starts.
    readSync(this.#file, scratch, 0, (count + 1) * 4, this.#at - tableBytes + index * 4)
    return [scratchNumbers[0] ?? 0, (scratchNumbers[count] ?? 1) - 1]
  }

  /** Reads joined bytes into `target`, all of them or, once they were found whole, those from `from` on. */
  readJoined(target: Buffer, from: number): boolean {
    if (!this.#read(target, this.#at + from)) return false
    this.#joinedChecked ||= target.length === this.joinedLength && crc32(target) === this.#joinedCrc
    return this.#joinedChecked
  }

  /** Reads all deflated bytes. Both answer false when the bytes are not what was written (a crash took them): drop it. */
  readDeflated(target: Buffer): boolean {
    if (!this.#read(target, this.#at + this.joinedLength)) return false
    this.#deflatedChecked ||= crc32(target) === this.#deflatedCrc
    return this.#deflatedChecked
  }

  #read(target: Buffer, from: number): boolean {
    return readSync(this.#file, target, 0, target.length, from) === target.length
  }
}

function readRecord(
  file: number,
  start: number,
  checked: boolean,
): { readonly key: string; readonly segment: StoredSegment; readonly end: number } | undefined {
  const head = Buffer.alloc(headBytes)
  if (readSync(file, head, 0, headBytes, start) !== headBytes || head.readUInt32LE(0) !== magic)
    return undefined
  const [keyLength, joinedLength, deflatedLength, joinedCrc, deflatedCrc, storedCrc] = [
    4, 8, 12, 16, 20, 24,
  ].map((at) => head.readUInt32LE(at))
  if (keyLength === undefined || joinedLength === undefined || deflatedLength === undefined) return undefined
  if (joinedCrc === undefined || deflatedCrc === undefined || keyLength > maxKeyBytes) return undefined
  const rest = Buffer.alloc(keyLength + tableBytes)
  if (readSync(file, rest, 0, rest.length, start + headBytes) !== rest.length) return undefined
  const keyBytes = rest.subarray(0, keyLength)
  const tableBuffer = rest.subarray(keyLength)
  if (headCrc(head, keyBytes, tableBuffer) !== storedCrc) return undefined
  const at = start + headBytes + rest.length
  const end = at + joinedLength + deflatedLength
  if (end > fstatSync(file).size) return undefined
  const facts = { joinedLength, deflatedLength, joinedCrc, deflatedCrc, ...wholeSums(tableBuffer), checked }
  const place = { key: keyBytes.toString(), at, facts }
  return { key: place.key, segment: new StoredSegment(file, place), end }
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
