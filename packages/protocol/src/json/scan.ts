/** One linear pass over the tokens of a JSON text: what is refused in it, and where wanted members stand. */
import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  indexOrEnd,
  isDigit,
  isLetter,
  isWhiteSpace,
  letterU,
  minus,
  numberFault,
  openBrace,
  openBracket,
  quote,
  unitAt,
} from './characters.ts'

export type JsonFaultCode =
  | 'invalid_json'
  | 'too_deep'
  | 'duplicate_key'
  | 'forbidden_key'
  | 'number_out_of_range'
  | 'nul_character'
  | 'lone_surrogate'
  /** Only where values are read from bytes; its message says what is too large. */
  | 'too_large'

/** Why a text is refused. `pointer` (RFC 6901) says where. */
export interface JsonFault {
  readonly code: JsonFaultCode
  readonly pointer: string
  readonly message: string
}

/** Where the value of a wanted member stands in the text. */
export interface MemberSpan {
  /** Index of the item in the outermost array; 0 when the outermost value is an object. */
  readonly item: number
  readonly key: string
  readonly start: number
  readonly end: number
  /** White space stands between tokens inside the span. */
  readonly spaced: boolean
}

export interface JsonLimits {
  /** Levels of the whole text. The message of a fault counts from the wanted members, as the sender does. */
  readonly maxDepth: number
  /** Collect the spans of these members of objects at this depth (the outermost value is depth 1). */
  readonly members?: { readonly keys: readonly string[]; readonly depth: number }
}

/** An object or array that the scan is inside. */
interface OpenContainer {
  readonly isObject: boolean
  /** Keys seen so far; made at the first key. */
  keys: Set<string> | undefined
  key: string
  index: number
}

/**
 * One pass over the tokens. The grammar is left to `JSON.parse`, afterwards; here, a text that is not JSON must only
 * not make the scan slow or run past the end. Quotes and backslashes are found with `indexOf`, which reads long strings
 * at the speed of memory, and each position is searched for once: 100 kB of `\n` takes linear time.
 */
export class JsonScan {
  readonly spans: MemberSpan[] = []
  readonly #text: string
  readonly #limits: JsonLimits
  readonly #open: OpenContainer[] = []
  #index = 0
  #expectsKey = false
  #nextQuote = -1
  #nextBackslash = -1
  #wanted: { readonly key: string; start: number; spaced: boolean } | undefined

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  /** Scans the whole text. */
  run(): JsonFault | undefined {
    return this.advance(this.#text.length)
  }

  /** The text is read to its end. */
  get ended(): boolean {
    return this.#index >= this.#text.length
  }

  /**
   * Scans up to `length` further characters, and to the end of the token there. After a fault the scan cannot continue.
   */
  advance(length: number): JsonFault | undefined {
    const text = this.#text
    const pause = Math.min(this.#index + length, text.length)
    while (this.#index < pause) {
      const code = text.charCodeAt(this.#index)
      let fault: JsonFault | undefined
      if (code === quote) fault = this.#string()
      else if (code === comma) this.#comma()
      else if (code === openBrace || code === openBracket) fault = this.#openContainer(code === openBrace)
      else if (code === closeBrace || code === closeBracket) this.#closeContainer()
      else if (code === minus || isDigit(code)) fault = this.#number()
      else if (isLetter(code)) this.#literal()
      else {
        if (this.#wanted !== undefined && this.#wanted.start >= 0 && isWhiteSpace(code))
          this.#wanted.spaced = true
        this.#index += 1
      }
      if (fault !== undefined) return fault
    }
    return undefined
  }

  #openContainer(isObject: boolean): JsonFault | undefined {
    this.#valueStarts()
    if (this.#open.length >= this.#limits.maxDepth) {
      const { maxDepth, members } = this.#limits
      const message = `Nested deeper than ${maxDepth - (members?.depth ?? 0)} levels.`
      return { code: 'too_deep', pointer: this.pointer(), message }
    }
    this.#open.push({ isObject, keys: undefined, key: '', index: 0 })
    this.#expectsKey = isObject
    this.#index += 1
    return undefined
  }

  #closeContainer(): void {
    this.#open.pop()
    this.#expectsKey = false
    this.#index += 1
    this.#valueEnds()
  }

  #comma(): void {
    const container = this.#open.at(-1)
    if (container !== undefined) {
      container.index += 1
      this.#expectsKey = container.isObject
    }
    this.#index += 1
  }

  #literal(): void {
    this.#valueStarts()
    const text = this.#text
    while (this.#index < text.length) {
      const code = text.charCodeAt(this.#index)
      if (!isLetter(code)) break
      this.#index += 1
    }
    this.#valueEnds()
  }

  #number(): JsonFault | undefined {
    this.#valueStarts()
    const text = this.#text
    const start = this.#index
    while (this.#index < text.length) {
      const code = text.charCodeAt(this.#index)
      const inNumber =
        isDigit(code) || code === 0x2e || code === minus || code === 0x2b || (code | 0x20) === 0x65
      if (!inNumber) break
      this.#index += 1
    }
    const length = this.#index - start
    // Up to 15 characters without an exponent can neither overflow nor lose digits.
    if (length > 15 || text.slice(start, this.#index).search(/e/i) >= 0) {
      const message = numberFault(text.slice(start, this.#index))
      if (message !== undefined) return { code: 'number_out_of_range', pointer: this.pointer(), message }
    }
    this.#valueEnds()
    return undefined
  }

  #string(): JsonFault | undefined {
    const isKey = this.#expectsKey
    if (!isKey) this.#valueStarts()
    const start = this.#index + 1
    const end = this.#endOfString(start)
    if (typeof end !== 'number') return end
    this.#index = Math.min(end + 1, this.#text.length)
    if (isKey) return this.#key(start, end)
    this.#valueEnds()
    return undefined
  }

  /** The index of the closing quote, or the fault of an escape on the way. */
  #endOfString(start: number): number | JsonFault {
    const text = this.#text
    let from = start
    for (;;) {
      if (this.#nextQuote < from) this.#nextQuote = indexOrEnd(text, '"', from)
      if (this.#nextBackslash < from) {
        const adjoining = text.charCodeAt(from) === backslash
        this.#nextBackslash = adjoining ? from : indexOrEnd(text, '\\', from)
      }
      if (this.#nextQuote < this.#nextBackslash || this.#nextQuote >= text.length) return this.#nextQuote
      const escape = this.#nextBackslash
      from = escape + 2
      if (text.charCodeAt(escape + 1) !== letterU) continue
      const unit = unitAt(text, escape + 2)
      from = escape + 6
      if (unit === 0) {
        return {
          code: 'nul_character',
          pointer: this.pointer(),
          message: String.raw`\u0000 cannot be stored; leave it out.`,
        }
      }
      if (unit < 0xd800 || unit > 0xdfff) continue
      const low = text.startsWith(String.raw`\u`, from) ? unitAt(text, from + 2) : 0
      if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff) {
        const message = 'Half of a surrogate pair: this is not a character.'
        return { code: 'lone_surrogate', pointer: this.pointer(), message }
      }
      from += 6
    }
  }

  #key(start: number, end: number): JsonFault | undefined {
    this.#expectsKey = false
    const container = this.#open.at(-1)
    if (container === undefined) return undefined
    const raw = this.#text.slice(start, end)
    const key = raw.includes('\\') ? unescapeKey(raw) : raw
    const above = this.#open.at(-2)
    container.key = key
    if (
      key === '__proto__' ||
      (key === 'prototype' && above?.isObject === true && above.key === 'constructor')
    ) {
      return { code: 'forbidden_key', pointer: this.pointer(), message: `The key "${key}" is not allowed.` }
    }
    container.keys ??= new Set()
    if (container.keys.has(key)) {
      return {
        code: 'duplicate_key',
        pointer: this.pointer(),
        message: 'The same name occurs twice in one object. Send it once.',
      }
    }
    container.keys.add(key)
    const members = this.#limits.members
    if (members !== undefined && members.depth === this.#open.length && members.keys.includes(key)) {
      this.#wanted = { key, start: -1, spaced: false }
    }
    return undefined
  }

  #valueStarts(): void {
    if (this.#wanted !== undefined && this.#wanted.start < 0) this.#wanted.start = this.#index
  }

  #valueEnds(): void {
    const wanted = this.#wanted
    if (wanted === undefined || this.#open.length !== this.#limits.members?.depth) return
    const outermost = this.#open[0]
    const item = outermost === undefined || outermost.isObject ? 0 : outermost.index
    this.spans.push({ item, key: wanted.key, start: wanted.start, end: this.#index, spaced: wanted.spaced })
    this.#wanted = undefined
  }

  /** Where the scan is, in at most 200 characters (RFC 6901). */
  pointer(): string {
    return this.#open
      .map(
        (container) =>
          `/${container.isObject ? container.key.replaceAll('~', '~0').replaceAll('/', '~1') : container.index}`,
      )
      .join('')
      .slice(0, 200)
  }
}

function unescapeKey(raw: string): string {
  try {
    const key: unknown = JSON.parse(`"${raw}"`)
    return typeof key === 'string' ? key : raw
  } catch {
    return raw
  }
}
