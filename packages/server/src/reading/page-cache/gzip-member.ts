/**
 * One gzip member put together from parts: texts stored as they are, and pieces that were deflated before, each ended
 * by a full flush. Always one member: Chromium, Deno and wget stop after the first of several, and curl fails.
 */
import { crc32 } from 'node:zlib'
import { comma } from './page-body.ts'

/** A deflated piece, and what the member's trailer needs to know of its text. */
export interface DeflatedPiece {
  /** Raw deflate without a last block, ending on a byte boundary, as after a full flush. */
  readonly bytes: Uint8Array
  /** Length, CRC-32 and `crcShift(length)` of the text. */
  readonly textLength: number
  readonly crc: number
  readonly shift: number
}

/** Magic, deflate, no flags, no time, no extra flags, unknown system (RFC 1952). */
const memberHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)

/** The most bytes in a stored block (RFC 1951 §3.2.4). */
const maxStored = 0xffff

/** The beginning of a member: its header and a first text. It is the same for many members, so it is made once. */
interface MemberStart {
  readonly bytes: Uint8Array
  readonly textLength: number
  readonly crc: number
}

/** `text`: at most 65,535 bytes. */
export function memberStart(text: Uint8Array): MemberStart {
  const bytes = Buffer.concat([memberHeader, storedBlock(text, false)])
  return { bytes, textLength: text.byteLength, crc: crc32(text) }
}

/** A comma between two pieces, as a stored block. */
export const commaBlock = storedBlock(comma, false)

export class GzipMember {
  #pieces: Uint8Array[]
  #byteLength: number
  #crc: number
  #textLength: number

  constructor({ bytes, textLength, crc }: MemberStart) {
    this.#pieces = [bytes]
    this.#byteLength = bytes.byteLength
    this.#crc = crc
    this.#textLength = textLength
  }

  /** Of all pieces so far. */
  get byteLength(): number {
    return this.#byteLength
  }

  /** The pieces since the last call: the member's next bytes. */
  takePieces(): readonly Uint8Array[] {
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  /** Adds the comma between two events: five bytes more than the comma itself. */
  addComma(): void {
    this.#pieces.push(commaBlock)
    this.#byteLength += commaBlock.byteLength
    this.#crc = crc32(comma, this.#crc)
    this.#textLength += comma.byteLength
  }

  addPiece({ bytes, textLength, crc, shift }: DeflatedPiece): void {
    this.#pieces.push(bytes)
    this.#byteLength += bytes.byteLength
    this.#crc = combineCrc(this.#crc, crc, shift)
    this.#textLength += textLength
  }

  /** Adds the last text, uncompressed, and the trailer. The pieces, in order, are the member, or its end after `takePieces`. */
  end(text: Uint8Array): readonly Uint8Array[] {
    const block = storedBlock(text, true, trailerBytes)
    const trailer = block.length - trailerBytes
    block.writeUInt32LE(crc32(text, this.#crc), trailer)
    block.writeUInt32LE((this.#textLength + text.byteLength) % 2 ** 32, trailer + 4)
    this.#pieces.push(block)
    return this.#pieces
  }
}

const trailerBytes = 8

/** A stored block (RFC 1951 §3.2.4): it begins and ends on a byte boundary. `spare`: bytes left free after it. */
function storedBlock(text: Uint8Array, last: boolean, spare = 0): Buffer {
  if (text.byteLength > maxStored)
    throw new RangeError(`a stored block holds ${maxStored} bytes, not ${text.byteLength}`)
  const block = Buffer.allocUnsafe(5 + text.byteLength + spare)
  block[0] = last ? 1 : 0
  block.writeUInt16LE(text.byteLength, 1)
  block.writeUInt16LE(text.byteLength ^ 0xffff, 3)
  block.set(text, 5)
  return block
}

/**
 * The CRC-32 of two texts joined, from the CRC-32 of each and the length of the second: the arithmetic of polynomials
 * over GF(2) modulo the CRC's own. It joins compressed pieces into one gzip member.
 */

const polynomial = 0xedb88320

/** a · b modulo the polynomial; bit 31 is x^0. */
function multiply(a: number, b: number): number {
  let product = 0
  let factor = b
  for (let bit = 31; bit >= 0; bit -= 1) {
    if ((a >>> bit) & 1) product ^= factor
    factor = factor & 1 ? (factor >>> 1) ^ polynomial : factor >>> 1
  }
  return product >>> 0
}

/** x^(2^k) for k = 0 … 31. */
const squares = new Uint32Array(32)
squares[0] = 1 << 30
for (let k = 1; k < 32; k += 1) squares[k] = multiply(squares[k - 1] ?? 0, squares[k - 1] ?? 0)

/** The factor of a CRC when `byteLength` bytes follow: x^(8 · byteLength). Keep it if you use it again. */
export function crcShift(byteLength: number): number {
  let shift = 1 << 31 // x^0
  let rest = byteLength
  for (let k = 3; rest > 0; k += 1) {
    if (rest % 2 === 1) shift = multiply(squares[k & 31] ?? 0, shift)
    rest = Math.floor(rest / 2)
  }
  return shift >>> 0
}

/** The CRC-32 of `first` followed by `second`, where `secondShift` is the `crcShift` of the second's length. */
export function combineCrc(firstCrc: number, secondCrc: number, secondShift: number): number {
  return (multiply(secondShift, firstCrc) ^ secondCrc) >>> 0
}
