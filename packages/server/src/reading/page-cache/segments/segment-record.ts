/**
 * A segment's record in the file: head (7 numbers of 32 bits, little endian: magic, key length, joined length, deflated
 * length, CRC of joined, CRC of deflated, CRC of head, key and table), key, table, joined bytes, deflated bytes.
 */
import { crc32 } from 'node:zlib'
import { readBytes } from './segment-index.ts'
import { keyOfSegment } from './segment-id.ts'
import type { SegmentId } from './segment-id.ts'
import type { RecordFacts } from './segment-index.ts'
import { readTable, tableNumbers, writeTable } from './segment.ts'
import type { Segment, WholeText } from './segment.ts'

const magic = 0x31534550 // 'PES1'
/** Takes the place of `magic`: only zeros follow, up to where the record ended. */
const wipedMagic = 0x30534550 // 'PES0'
const headBytes = 28
const tableBytes = tableNumbers * 4
const maxKeyBytes = 512

/** The beginning of the record whose joined bytes begin at `at`. */
export function recordStart(id: SegmentId, at: number): number {
  return tableStart(at) - Buffer.byteLength(keyOfSegment(id)) - headBytes
}

/** The beginning of the table of the record whose joined bytes begin at `at`. */
export function tableStart(at: number): number {
  return at - tableBytes
}

/** A record that has not been written. */
export interface NewRecord {
  readonly parts: readonly Uint8Array[]
  readonly byteLength: number
  /** The facts of the record once it has been written at `start`. */
  factsAt(start: number): RecordFacts
}

/** `undefined`: the key is too long. */
export function newRecord(id: SegmentId, { table, joined, deflated }: Segment): NewRecord | undefined {
  const key = Buffer.from(keyOfSegment(id))
  if (key.length > maxKeyBytes) return undefined
  const [joinedLength, deflatedLength] = [joined.byteLength, deflated.byteLength]
  const [joinedCrc, deflatedCrc] = [crc32(joined), crc32(deflated)]
  const head = Buffer.alloc(headBytes)
  const fields = [magic, key.length, joinedLength, deflatedLength, joinedCrc, deflatedCrc]
  for (const [index, field] of fields.entries()) head.writeUInt32LE(field, index * 4)
  const tableBuffer = Buffer.from(writeTable(table).buffer)
  head.writeUInt32LE(headCrc(head, key, tableBuffer), 24)
  const before = headBytes + key.length + tableBytes
  const { crc, shift } = table
  const checked = { tableChecked: true, joinedChecked: true, deflatedChecked: true }
  const facts = { joinedLength, deflatedLength, joinedCrc, deflatedCrc, crc, shift, ...checked }
  return {
    parts: [head, key, tableBuffer, joined, deflated],
    byteLength: before + joinedLength + deflatedLength,
    factsAt: (start) => ({ at: start + before, ...facts }),
  }
}

interface FoundRecord {
  readonly key: string
  readonly facts: RecordFacts
  /** The beginning of the next record. */
  readonly end: number
}

/** `undefined`: no whole record begins here. `size` is that of the file. The joined and the deflated bytes are not checked. */
export function readRecord(file: number, start: number, size: number): FoundRecord | undefined {
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

/** The head of a wiped record, which says how far it reaches. After the head, the rest of the record is zeros. */
export function wipedHead(from: number, to: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(wipedMagic, 0)
  head.writeBigUInt64LE(BigInt(to - from), 4)
  head.writeUInt32LE(crc32(head.subarray(0, 24)), 24)
  return head
}

/** Where a wiped record ends; `undefined`: none begins here. `size` is that of the file. */
export function endOfWiped(file: number, from: number, size: number): number | undefined {
  const head = Buffer.alloc(headBytes)
  if (!readBytes(file, head, from) || head.readUInt32LE(0) !== wipedMagic) return undefined
  if (head.readUInt32LE(24) !== crc32(head.subarray(0, 24))) return undefined
  const end = from + Number(head.readBigUInt64LE(4))
  return end > from && end <= size ? end : undefined
}

/** A table ends with the checksum and the shift of the whole segment. */
function wholeSums(table: Buffer): Pick<WholeText, 'crc' | 'shift'> {
  const numbers = new Uint32Array(tableNumbers)
  table.copy(Buffer.from(numbers.buffer))
  const { crc, shift } = readTable(numbers)
  return { crc, shift }
}

/**
 * The checksum of everything that the index is made from. The table's numbers have this machine's byte order; the file
 * never leaves it.
 */
function headCrc(head: Buffer, key: Buffer, table: Buffer): number {
  return crc32(table, crc32(key, crc32(head.subarray(0, 24))))
}
