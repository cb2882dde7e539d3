/**
 * One gzip member put together from parts: texts stored as they are, and pieces that were deflated before, each ended
 * by a full flush. Always one member: Chromium, Deno and wget stop after the first of several, and curl fails.
 */
import { crc32 } from 'node:zlib'
import { combineCrc } from './crc32-combine.ts'
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
