/**
 * One gzip member put together from parts: texts stored as they are, and pieces that were deflated before, each ended
 * by a full flush. Always one member: Chromium, Deno and wget stop after the first of several, and curl fails.
 */
import { crc32 } from 'node:zlib'
import { combineCrc } from './crc32-combine.ts'

/** A deflated piece, and what the member's trailer needs to know of the text in it. */
export interface DeflatedPiece {
  /** Raw deflate without a last block, on a byte boundary: what a full flush leaves. */
  readonly bytes: Uint8Array
  /** Length, CRC-32 and `crcShift(length)` of the text. */
  readonly textLength: number
  readonly crc: number
  readonly shift: number
}

/** Magic, deflate, no flags, no time, no extra flags, unknown system (RFC 1952). */
const memberHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)

/** What a stored block may hold (RFC 1951 §3.2.4). */
const maxStored = 0xffff

export class GzipMember {
  readonly #pieces: Uint8Array[] = [memberHeader]
  #crc = 0
  #textLength = 0
  #byteLength = memberHeader.length

  /** Adds a short text uncompressed: five bytes more than the text. At most 65,535 bytes. */
  addText(text: Uint8Array): void {
    this.#add(storedBlock(text, false), text)
  }

  addPiece(piece: DeflatedPiece): void {
    this.#pieces.push(piece.bytes)
    this.#byteLength += piece.bytes.byteLength
    this.#crc = combineCrc(this.#crc, piece.crc, piece.shift)
    this.#textLength += piece.textLength
  }

  /** Adds the last text and the trailer. The pieces, in order, are the member. */
  end(text: Uint8Array): { readonly pieces: readonly Uint8Array[]; readonly byteLength: number } {
    this.#add(storedBlock(text, true), text)
    const trailer = Buffer.allocUnsafe(8)
    trailer.writeUInt32LE(this.#crc, 0)
    trailer.writeUInt32LE(this.#textLength % 2 ** 32, 4)
    this.#pieces.push(trailer)
    return { pieces: this.#pieces, byteLength: this.#byteLength + trailer.length }
  }

  #add(block: Uint8Array, text: Uint8Array): void {
    this.#pieces.push(block)
    this.#byteLength += block.byteLength
    this.#crc = crc32(text, this.#crc)
    this.#textLength += text.byteLength
  }
}

/** A stored block (RFC 1951 §3.2.4): it begins and ends on a byte boundary. */
export function storedBlock(text: Uint8Array, last: boolean): Uint8Array {
  if (text.byteLength > maxStored)
    throw new RangeError(`a stored block holds ${maxStored} bytes, not ${text.byteLength}`)
  const block = Buffer.allocUnsafe(5 + text.byteLength)
  block[0] = last ? 1 : 0
  block.writeUInt16LE(text.byteLength, 1)
  block.writeUInt16LE(text.byteLength ^ 0xffff, 3)
  block.set(text, 5)
  return block
}
