/**
 * A segment: 100 consecutive events of a view, ready for the wire. Once a view has them all they never change (D4), so
 * their bytes are kept joined, and deflated in pieces of 25. Segments are aligned: number n holds the ordinals
 * 100n + 1 … 100n + 100, which is page n + 1 at the default page size.
 */
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'
import { combineCrc, commaBlock, crcShift } from '../gzip-member.ts'
import type { DeflatedPiece } from '../gzip-member.ts'
import { comma } from '../page-body.ts'

export const eventsPerSegment = 100
/** Pages of 25 are common in public clients. A piece of 25 events is some 100 kB: three times deflate's window, so cutting costs little. */
export const eventsPerPiece = 25
const piecesPerSegment = eventsPerSegment / eventsPerPiece

/**
 * What is known of a segment apart from its bytes; 116 numbers of 32 bits (`tableNumbers`), as in memory and in the
 * file.
 */
export interface SegmentTable {
  /** Where event i starts in the joined bytes; number 100 is the end plus one, as if a comma followed. */
  readonly starts: Uint32Array
  /** Where piece i starts in the deflated bytes, comma blocks included; number 4 is the end. */
  readonly pieceStarts: Uint32Array
  readonly pieceCrcs: Uint32Array
  readonly pieceShifts: Uint32Array
  /** Of all deflated pieces together, for pages made of whole segments. */
  readonly crc: number
  readonly shift: number
}

/** What a gzip member needs to know about a whole segment. */
export type WholeText = Omit<DeflatedPiece, 'bytes'>

export interface Segment {
  readonly table: SegmentTable
  /** `json,json,…` of all events. */
  readonly joined: Uint8Array
  /** The pieces, with a stored block holding a comma between them. */
  readonly deflated: Uint8Array
}

const deflate = promisify(deflateRaw)
const commaCrc = crc32(comma)
const commaShift = crcShift(1)

/**
 * Between two events and nowhere else: inside a JSON string every quotation mark has a backslash before it, so these
 * bytes cannot occur there.
 */
const boundary = Buffer.from('"},{"tenantId":"')
const beforeComma = 2

/** The start of each event. `undefined` when the bytes do not contain exactly `count` events. */
function findStarts(joined: Uint8Array, count: number): Uint32Array | undefined {
  const bytes = Buffer.from(joined.buffer, joined.byteOffset, joined.byteLength)
  const starts = new Uint32Array(count + 1)
  let found = 1
  for (let at = bytes.indexOf(boundary); at >= 0; at = bytes.indexOf(boundary, at + boundary.length)) {
    if (found >= count) return undefined
    starts[found] = at + beforeComma + 1
    found += 1
  }
  if (found !== count) return undefined
  starts[count] = bytes.length + 1
  return starts
}

/** Level 6, once for each segment: 3.5 ms to get from 365 kB to 53 kB. Level 1 gives 67 kB in 1.9 ms. */
const sealedLevel = 6

/** Deflates on pool threads, all pieces at once: in sequence, each would wait for a busy event loop. */
export async function sealSegment(joined: Uint8Array): Promise<Segment | undefined> {
  const starts = findStarts(joined, eventsPerSegment)
  if (starts === undefined) return undefined
  const deflating: Promise<DeflatedPiece>[] = []
  for (let piece = 0; piece < piecesPerSegment; piece += 1) {
    const [from, to] = [starts[piece * eventsPerPiece] ?? 0, (starts[(piece + 1) * eventsPerPiece] ?? 0) - 1]
    deflating.push(deflatePiece(joined.subarray(from, to), sealedLevel))
  }
  const pieces = await Promise.all(deflating)
  const parts: Uint8Array[] = []
  const pieceStarts = new Uint32Array(piecesPerSegment + 1)
  let crc = 0
  let length = 0
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) {
      parts.push(commaBlock)
      length += commaBlock.byteLength
      crc = combineCrc(crc, commaCrc, commaShift)
    }
    pieceStarts[index] = length
    parts.push(piece.bytes)
    length += piece.bytes.byteLength
    crc = combineCrc(crc, piece.crc, piece.shift)
  }
  pieceStarts[piecesPerSegment] = length
  const table: SegmentTable = {
    starts,
    pieceStarts,
    pieceCrcs: Uint32Array.from(pieces, (piece) => piece.crc),
    pieceShifts: Uint32Array.from(pieces, (piece) => piece.shift),
    crc,
    shift: crcShift(joined.byteLength),
  }
  return { table, joined, deflated: Buffer.concat(parts, length) }
}

/** Deflates a text so that it can be joined with others into one member. */
export async function deflatePiece(text: Uint8Array, level: number): Promise<DeflatedPiece> {
  const bytes = await deflate(text, { level, finishFlush: constants.Z_FULL_FLUSH })
  return { bytes, textLength: text.byteLength, crc: crc32(text), shift: crcShift(text.byteLength) }
}

export function wholeText({ starts, crc, shift }: SegmentTable): WholeText {
  return { textLength: (starts[eventsPerSegment] ?? 1) - 1, crc, shift }
}

/** The bytes of `count` events from `index` in the joined bytes. */
export function joinedSpan(
  table: SegmentTable,
  index: number,
  count: number,
): readonly [from: number, to: number] {
  return [table.starts[index] ?? 0, (table.starts[index + count] ?? 1) - 1]
}

/** The span of a whole piece in the deflated bytes, and what the member needs to know about its text. */
export function pieceSpan(
  table: SegmentTable,
  piece: number,
): WholeText & { readonly from: number; readonly to: number } {
  const [textFrom, textTo] = joinedSpan(table, piece * eventsPerPiece, eventsPerPiece)
  const isLast = piece === piecesPerSegment - 1
  return {
    from: table.pieceStarts[piece] ?? 0,
    to: (table.pieceStarts[piece + 1] ?? 0) - (isLast ? 0 : commaBlock.byteLength),
    textLength: textTo - textFrom,
    crc: table.pieceCrcs[piece] ?? 0,
    shift: table.pieceShifts[piece] ?? 0,
  }
}

/** Numbers in a stored table. */
export const tableNumbers = eventsPerSegment + 1 + (piecesPerSegment + 1) + 2 * piecesPerSegment + 2

export function writeTable(table: SegmentTable): Uint32Array {
  const numbers = new Uint32Array(tableNumbers)
  let at = 0
  for (const list of [
    table.starts,
    table.pieceStarts,
    table.pieceCrcs,
    table.pieceShifts,
    [table.crc, table.shift],
  ]) {
    numbers.set(list, at)
    at += list.length
  }
  return numbers
}

export function readTable(numbers: Uint32Array): SegmentTable {
  let at = 0
  const take = (count: number): Uint32Array => numbers.subarray(at, (at += count))
  const starts = take(eventsPerSegment + 1)
  const pieceStarts = take(piecesPerSegment + 1)
  const pieceCrcs = take(piecesPerSegment)
  const pieceShifts = take(piecesPerSegment)
  const [crc = 0, shift = 0] = take(2)
  return { starts, pieceStarts, pieceCrcs, pieceShifts, crc, shift }
}
