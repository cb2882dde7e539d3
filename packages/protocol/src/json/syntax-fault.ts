/**
 * Finds where a text stops being JSON, for the person who has to correct it. This runs only after a text was refused, in pieces, so that
 * other work gets a turn in between.
 */
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isDigit,
  isLetter,
  isWhiteSpace,
  minus,
  openBrace,
  openBracket,
  quote,
} from './characters.ts'
import { afterBlanks } from './items.ts'

/** From 1; columns count characters, as editors do. */
export interface TextPosition {
  readonly line: number
  readonly column: number
  /** A few characters on both sides, on one line. */
  readonly excerpt: string
}

/** The bytes to look at before other work gets a turn: some 2 ms where each value has one byte, measured manually. */
const pieceBytes = 16_384
/** Deeper texts are refused for their depth. */
const maxDepth = 1_000
/** Longer numbers are refused for their length. */
const maxNumberBytes = 400
const excerptBefore = 30
const excerptAfter = 20
const lineFeed = 0x0a

type Expected = 'value' | 'firstValue' | 'firstKey' | 'key' | 'colon' | 'comma' | 'nothing'

/** A string, number or literal: `end` is after it, or at the first byte that does not belong. */
interface Scalar {
  readonly isWhole: boolean
  readonly end: number
}

/**
 * The first byte at which a UTF-8 text is no longer JSON, or its length if it is cut off. `undefined`: the text is JSON, or it is too
 * deep or contains too long a number to be examined.
 */
export function* findSyntaxFault(text: Uint8Array): Generator<undefined, number | undefined> {
  const open: number[] = []
  let expected: Expected = 'value'
  let turn = 0
  let at = yield* afterBlanks(text, 0)
  while (at < text.length) {
    if (at - turn > pieceBytes) {
      turn = at
      yield undefined
    }
    const byte = text[at] ?? 0
    const next: Expected | undefined = afterStructure(byte, expected, open)
    if (open.length > maxDepth) return undefined
    if (next !== undefined) {
      expected = next
      at += 1
    } else {
      const isKey: boolean = expected === 'key' || expected === 'firstKey'
      if (!isKey && expected !== 'value' && expected !== 'firstValue') return at
      if (isKey && byte !== quote) return at
      const scalar: Scalar | undefined =
        byte === quote ? yield* readString(text, at) : readNumberOrLiteral(text, at)
      if (scalar === undefined) return undefined
      if (!scalar.isWhole) return scalar.end
      expected = isKey ? 'colon' : afterValue(open)
      at = scalar.end
    }
    if (isWhiteSpace(text[at] ?? 0)) at = yield* afterBlanks(text, at)
  }
  return expected === 'nothing' ? undefined : text.length
}

/** What can follow a byte of structure, which opens or closes. `undefined`: the byte is not such a byte, or is not allowed here. */
function afterStructure(byte: number, expected: Expected, open: number[]): Expected | undefined {
  const isValue = expected === 'value' || expected === 'firstValue'
  const inside = open.at(-1)
  if (isValue && (byte === openBrace || byte === openBracket)) {
    open.push(byte)
    return byte === openBrace ? 'firstKey' : 'firstValue'
  }
  const closes =
    (byte === closeBrace && inside === openBrace && (expected === 'comma' || expected === 'firstKey')) ||
    (byte === closeBracket && inside === openBracket && (expected === 'comma' || expected === 'firstValue'))
  if (closes) {
    open.pop()
    return afterValue(open)
  }
  if (byte === comma && expected === 'comma') return inside === openBrace ? 'key' : 'value'
  if (byte === colon && expected === 'colon') return 'value'
  return undefined
}

function afterValue(open: readonly number[]): Expected {
  return open.length === 0 ? 'nothing' : 'comma'
}

const numberOrLiteral = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

function readNumberOrLiteral(text: Uint8Array, start: number): Scalar | undefined {
  let end = start
  while (isOfWord(text[end] ?? 0)) {
    end += 1
    if (end - start > maxNumberBytes) return undefined
  }
  const word = String.fromCharCode(...text.subarray(start, end))
  return numberOrLiteral.test(word) ? { isWhole: true, end } : { isWhole: false, end: start }
}

/** A letter, a digit, or another character of a number. */
function isOfWord(byte: number): boolean {
  return isDigit(byte) || isLetter(byte | 0x20) || byte === minus || byte === 0x2b || byte === 0x2e
}

function* readString(text: Uint8Array, start: number): Generator<undefined, Scalar> {
  let turn = start
  for (let at = start + 1; at < text.length; at += 1) {
    if (at - turn > pieceBytes) {
      turn = at
      yield undefined
    }
    const byte = text[at] ?? 0
    if (byte === quote) return { isWhole: true, end: at + 1 }
    if (byte < 0x20) return { isWhole: false, end: at }
    if (byte !== backslash) continue
    const escaped = String.fromCharCode(...text.subarray(at + 1, at + 6))
    if (!/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(escaped)) return { isWhole: false, end: at }
    at += 1
  }
  return { isWhole: false, end: text.length }
}

/** The line, column and surroundings of a byte. */
export function* textPositionOf(text: Uint8Array, offset: number): Generator<undefined, TextPosition> {
  let line = 1
  let column = 1
  let lineStart = 0
  for (let at = 0; at < offset;) {
    const pause = Math.min(at + pieceBytes, offset)
    for (; at < pause; at += 1) {
      const byte = text[at] ?? 0
      if (byte === lineFeed) {
        line += 1
        column = 1
        lineStart = at + 1
      } else if ((byte & 0xc0) !== 0x80) column += 1
    }
    if (at < offset) yield undefined
  }
  const around = text.subarray(Math.max(lineStart, offset - excerptBefore), offset + excerptAfter)
  const [excerpt = ''] = new TextDecoder().decode(around).split('\n', 1)
  return { line, column, excerpt: excerpt.replaceAll(/\s+/g, ' ').trim() }
}
