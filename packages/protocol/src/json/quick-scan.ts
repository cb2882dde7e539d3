/** The quick way to read a JSON text in which nothing has to be refused, which is nearly every text. */
import {
  backslash,
  closeBrace,
  colon,
  comma,
  indexOrEnd,
  isDigit,
  isLetter,
  isWhiteSpace,
  letterU,
  minus,
  numberFault,
  openBrace,
  quote,
  unitAt,
} from './characters.ts'
import type { JsonLimits, MemberSpan } from './scan.ts'
import { isRecord } from '../payload/member-at.ts'

/** A text in which values are scanned one after another. */
export interface ScannedText {
  readonly text: string
  /**
   * Index of the next backslash that a scan has searched for, so that a distant one is searched for once and not for
   * every value.
   */
  nextBackslash: number
}

interface QuickScan {
  readonly spans: readonly MemberSpan[]
  /**
   * Keys in the value. Of equal keys `JSON.parse` keeps one, so a value with fewer keys shows that one was repeated.
   */
  readonly keys: number
  /** The index after the value. */
  readonly end: number
}

const doubtfulKeys: readonly string[] = ['__proto__', 'prototype']

/** Why there is no result: there may be something to refuse, or the text ends before the value does. */
export type NoQuickScan = 'doubtful' | 'unfinished'

/**
 * Scans one value and looks for wanted members at depth 1. `doubtful`: `JsonScan` has to read the text. Otherwise, if
 * `JSON.parse` also accepts the text from `start` to `end` and its value has as many keys, `JsonScan` would find no
 * fault and the same spans. It keeps no set of keys for each object: 2.6 µs for an event of 3.5
 * kB (and 1 µs to count its keys), where `JsonScan` needs 9 µs.
 */
export function quickScan(scanned: ScannedText, limits: JsonLimits, start = 0): QuickScan | NoQuickScan {
  const { text } = scanned
  const { maxDepth, members } = limits
  const spans: MemberSpan[] = []
  // A scan without a result leaves `scanned` as it was.
  const escapes: ScannedText = { text, nextBackslash: scanned.nextBackslash }
  let index = start
  let depth = 0
  let keys = 0
  // Only the colon after a string shows that it was a key.
  let stringStart = 0
  let stringEnd = 0
  let escaped = false
  let wantedKey: string | undefined
  let wantedStart = -1
  let spaced = false

  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code === comma || isWhiteSpace(code)) {
      spaced ||= code !== comma
      index += 1
      continue
    }
    if (code === colon) {
      // A key that is written with escapes, or may be a forbidden one.
      if (escaped || keyAt(doubtfulKeys, text, stringStart, stringEnd) !== undefined) return 'doubtful'
      keys += 1
      index += 1
      if (depth === 1 && members !== undefined) {
        wantedKey = keyAt(members.keys, text, stringStart, stringEnd)
        wantedStart = -1
      }
      continue
    }
    if (wantedKey !== undefined && wantedStart < 0) {
      wantedStart = index
      spaced = false
    }
    if (code === quote) {
      stringStart = index + 1
      stringEnd = text.indexOf('"', stringStart)
      if (escapes.nextBackslash < stringStart) escapes.nextBackslash = indexOrEnd(text, '\\', stringStart)
      escaped = escapes.nextBackslash < stringEnd
      if (escaped) stringEnd = endOfEscaped(escapes, stringEnd)
      if (stringEnd < 0) return stringEnd === refused ? 'doubtful' : 'unfinished'
      index = stringEnd + 1
    } else if ((code | 0x20) === openBrace) {
      depth += 1
      if (depth > maxDepth) return 'doubtful'
      index += 1
      continue
    } else if ((code | 0x20) === closeBrace) {
      depth -= 1
      index += 1
    } else {
      index = code === minus || isDigit(code) ? endOfNumber(text, index) : endOfLiteral(text, index)
      if (index === refused) return 'doubtful'
    }
    if (wantedKey !== undefined && depth === 1) {
      spans.push({ item: 0, key: wantedKey, start: wantedStart, end: index, spaced })
      wantedKey = undefined
    }
    if (depth <= 0) {
      scanned.nextBackslash = escapes.nextBackslash
      return { spans, keys, end: index }
    }
  }
  return 'unfinished'
}

/** In place of an index: there may be something to refuse. */
const refused = -2

/** Where the string ends whose first quote after its beginning stands at `end`; -1 if the text ends before it does. */
function endOfEscaped(escapes: ScannedText, end: number): number {
  const { text } = escapes
  while (escapes.nextBackslash < end) {
    const letter = escapes.nextBackslash + 1
    if (text.charCodeAt(letter) === letterU && isRefusedUnit(text, letter + 1)) return refused
    const afterEscape = letter + 1
    if (end < afterEscape) end = text.indexOf('"', afterEscape)
    escapes.nextBackslash =
      text.charCodeAt(afterEscape) === backslash ? afterEscape : indexOrEnd(text, '\\', afterEscape)
  }
  return end
}

/** Where the `true`, `false` or `null` that begins at `start` ends, or any other word, which `JSON.parse` will refuse. */
function endOfLiteral(text: string, start: number): number {
  let index = start
  while (index < text.length && isLetter(text.charCodeAt(index))) index += 1
  return index === start ? refused : index
}

/** Where the number ends that begins at `start`. */
function endOfNumber(text: string, start: number): number {
  let index = start + 1
  let exponent = false
  for (; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if ((code | 0x20) === 0x65) exponent = true
    else if (!isDigit(code) && code !== 0x2e && code !== minus && code !== 0x2b) break
  }
  // Up to 15 characters without an exponent can neither overflow nor lose digits.
  const isPlain = !exponent && index - start <= 15
  return isPlain || numberFault(text.slice(start, index)) === undefined ? index : refused
}

/** How many keys the objects in a value have together. `value` comes from `JSON.parse`, so nothing in it is inherited. */
export function countKeys(value: unknown): number {
  let keys = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') keys += countKeys(item)
  } else if (isRecord(value)) {
    for (const key in value) {
      keys += 1
      const member = value[key]
      if (typeof member === 'object') keys += countKeys(member)
    }
  }
  return keys
}

/** NUL, and surrogates, whose other half would have to be looked for. `index`: of the four digits after `\u`. */
function isRefusedUnit(text: string, index: number): boolean {
  const unit = unitAt(text, index)
  return !(unit > 0 && (unit < 0xd800 || unit > 0xdfff))
}

/** A loop: every key of a text is looked at, and a function for each of them took a quarter of the memory of reading. */
function keyAt(keys: readonly string[], text: string, start: number, end: number): string | undefined {
  for (const key of keys) if (end - start === key.length && text.startsWith(key, start)) return key
  return undefined
}
