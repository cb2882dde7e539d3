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
} from './json-characters.ts'

export interface CopyLimits {
  /** Bytes of a value, the white space between its tokens not counted. */
  readonly maxBytes: number
  /** How many of them may stand outside strings: it is these that parsing takes its time and memory for. */
  readonly maxBytesOutsideStrings: number
}

/** Most of what is copied is an ordinary event that has something unusual in it. */
const firstRoomBytes = 16_384

/**
 * Copies in pieces, so that whoever copies can do other things in between: a value may stand among megabytes of white space. What is
 * copied is JSON if and only if the original is, and has the same tokens. The copy ends
 *
 * - after the value: in an array (`isItem`) before the comma or bracket that follows, else at the end of the range;
 * - early, where the text cannot be JSON any more: what was copied is none either;
 * - early, at a limit. `isTooLarge` then, and what was copied is the beginning of the value.
 */
export class CompactCopy {
  /** Where the bytes stand that were not looked at yet. Once it has ended: what follows the value. */
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

  /** Of `bytes` from `start` to `end`. */
  constructor(bytes: Uint8Array, start: number, end: number, isItem: boolean, limits: CopyLimits) {
    this.#bytes = bytes
    this.index = start
    this.#end = end
    this.#isItem = isItem
    this.#maxBytesOutsideStrings = limits.maxBytesOutsideStrings
    this.#maxBytes = limits.maxBytes
    this.#copied = new Uint8Array(Math.min(end - start, firstRoomBytes, limits.maxBytes))
  }

  /** What was copied so far. */
  get copied(): Uint8Array {
    return this.#copied.subarray(0, this.#length)
  }

  /** Looks at so many bytes, or fewer. True: the copy has ended. */
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
      // Between others, white space means nothing; between two of these it tells that they are two.
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

  /** False: there may be no more. */
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
