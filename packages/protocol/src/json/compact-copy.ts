/** One JSON value copied out of bytes, without the white space around and between its tokens. */
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isDigit,
  isWhiteSpace,
  minus,
  openBrace,
  openBracket,
  quote,
} from './characters.ts'

export interface CopyLimits {
  /** Bytes of a value, the white space between its tokens not counted. */
  readonly maxBytes: number
  /** How many of them may be outside strings. Parsing takes time and memory for these. */
  readonly maxBytesOutsideStrings: number
}

/** Enough for most values: an ordinary event with something unusual in it. */
const firstRoomBytes = 16_384

/**
 * Copies in pieces, so that other work can be done between them: a value may stand among megabytes of white space. The
 * copy is JSON if and only if the original is, and has the same tokens. The copy ends
 *
 * - after the value: in an array (`isItem`) before the comma or bracket that follows, else at the end of the range;
 * - early, where the text cannot be JSON any more: the copy is not JSON either;
 * - early, at a limit. `isTooLarge` is then true, and the copy is the beginning of the value.
 */
export class CompactCopy {
  /** Index of the first byte that was not looked at. After the end of the copy: of the first byte after the value. */
  index: number
  isTooLarge = false
  readonly #bytes: Uint8Array
  readonly #end: number
  readonly #isItem: boolean
  readonly #maxBytesOutsideStrings: number
  readonly #maxBytes: number
  #copied: Uint8Array
  #length = 0
  #bytesOutsideStrings = 0
  #depth = 0
  #inString = false
  #escaped = false
  #spaced = false
  /** The value has ended; only white space may follow. */
  #complete = false

  /** Copies from `bytes`, between `start` and `end`. */
  constructor(bytes: Uint8Array, start: number, end: number, isItem: boolean, limits: CopyLimits) {
    this.#bytes = bytes
    this.index = start
    this.#end = end
    this.#isItem = isItem
    this.#maxBytesOutsideStrings = limits.maxBytesOutsideStrings
    this.#maxBytes = limits.maxBytes
    this.#copied = new Uint8Array(Math.min(end - start, firstRoomBytes, limits.maxBytes))
  }

  /** The bytes copied so far. */
  get copied(): Uint8Array {
    return this.#copied.subarray(0, this.#length)
  }

  /** Looks at up to `byteLength` further bytes. True: the copy has ended. */
  advance(byteLength: number): boolean {
    const pause = Math.min(this.index + byteLength, this.#end)
    while (this.index < pause) {
      const byte = this.#bytes[this.index] ?? 0
      if (!this.#inString && isWhiteSpace(byte)) {
        this.#spaced = true
        this.index += 1
        continue
      }
      if (this.#isItem && this.#depth === 0 && !this.#inString && (byte === comma || byte === closeBracket)) {
        return true
      }
      if (!this.#append(byte)) {
        this.isTooLarge = true
        return true
      }
      this.index += 1
      if (this.#inString) this.#inside(byte)
      else if (this.#outside(byte)) return true
    }
    return this.index >= this.#end
  }

  /** False: a limit is reached. */
  #append(byte: number): boolean {
    if (!this.#inString) {
      // White space is needed only between two words or numbers, which would otherwise become one.
      if (this.#spaced && isPartOfWord(byte) && isPartOfWord(this.#copied[this.#length - 1] ?? quote)) {
        this.#spaced = false
        if (!this.#append(0x20)) return false
      }
      this.#spaced = false
      this.#bytesOutsideStrings += 1
      if (this.#bytesOutsideStrings > this.#maxBytesOutsideStrings) return false
    }
    if (this.#length >= this.#copied.length && !this.#grow()) return false
    this.#copied[this.#length] = byte
    this.#length += 1
    return true
  }

  /** False: the limit is reached. */
  #grow(): boolean {
    const length = Math.min(2 * this.#copied.length, this.#maxBytes)
    if (length <= this.#copied.length) return false
    const longer = new Uint8Array(length)
    longer.set(this.#copied)
    this.#copied = longer
    return true
  }

  #inside(byte: number): void {
    if (this.#escaped) this.#escaped = false
    else if (byte === backslash) this.#escaped = true
    else if (byte === quote) {
      this.#inString = false
      this.#complete = this.#depth === 0
    }
  }

  /** True: this cannot be JSON. */
  #outside(byte: number): boolean {
    if (this.#depth === 0) {
      if (this.#complete || byte === comma || byte === colon) return true
      if (this.#length === 1 && !beginsValue(byte)) return true
    }
    if (byte === quote) this.#inString = true
    else if (byte === openBrace || byte === openBracket) this.#depth += 1
    else if (byte === closeBrace || byte === closeBracket) {
      this.#depth -= 1
      this.#complete = this.#depth === 0
    }
    return this.#depth < 0
  }
}

function isPartOfWord(byte: number): boolean {
  return (
    byte !== comma &&
    byte !== colon &&
    byte !== quote &&
    (byte | 0x20) !== openBrace &&
    (byte | 0x20) !== closeBrace
  )
}

/** An object, an array, a string, a number, or one of `true`, `false` and `null`. */
function beginsValue(byte: number): boolean {
  return (
    (byte | 0x20) === openBrace ||
    byte === quote ||
    byte === minus ||
    isDigit(byte) ||
    byte === 0x74 ||
    byte === 0x66 ||
    byte === 0x6e
  )
}
