/**
 * Strict reading of JSON from untrusted bytes of any length: value by value, and a long value piece by piece, with a
 * limit on the work of each step and on the memory in all. Where a generator here yields `undefined`, the caller can
 * give other work a turn.
 */
import { closeBracket, comma, isWhiteSpace } from './characters.ts'
import { CompactCopy } from './compact-copy.ts'
import type { CopyLimits } from './compact-copy.ts'
import { countKeys, quickScan } from './quick-scan.ts'
import type { NoQuickScan, ScannedText } from './quick-scan.ts'
import { JsonScan } from './scan.ts'
import type { JsonFault, JsonLimits, MemberSpan } from './scan.ts'
import { invalidJson, parsed, readJson, readJsonInPieces, scanInPieces } from './text.ts'

/** A value, and the spans of its wanted members in `text`. */
export interface JsonItem {
  readonly value: unknown
  readonly spans: readonly MemberSpan[]
  readonly text: string
}

export type JsonItemReading =
  | { readonly kind: 'item'; readonly item: JsonItem }
  | { readonly kind: 'fault'; readonly fault: JsonFault }

/**
 * Limits of one value. A value beyond the limits of the copy is `too_large`: reading ends there, at the position that the
 * fault names.
 */
export interface ItemLimits extends JsonLimits, CopyLimits {}

interface WindowSizes {
  readonly usual: number
  readonly largest: number
}

/**
 * How many bytes are decoded and read in one step. The usual size gives strings below 128 kB, even with two bytes a
 * character: for a longer string V8 takes new memory from the system, which clears it page by page, 5 µs for every
 * event of a batch of 400 kB. The largest size takes at most 7 ms, if it is nothing but keys. A longer value is copied
 * first, without its white space.
 */
export const maxBytesAtOnce = 120_000
const defaultSizes: WindowSizes = { usual: 60_000, largest: maxBytesAtOnce }

/** The bytes looked at in one step of a copy, or of white space: a tenth of a millisecond. */
const pieceBytes = 65_536

/** The index of the first byte, from `start` on, that is not white space; the length of `bytes` if there is none. */
export function* afterBlanks(bytes: Uint8Array, start: number): Generator<undefined, number> {
  let index = start
  while (index < bytes.length) {
    const pause = Math.min(index + pieceBytes, bytes.length)
    while (index < pause && isWhiteSpace(bytes[index] ?? 0)) index += 1
    if (index < pause) return index
    yield undefined
  }
  return index
}

/** Reads the JSON text from `start` to `end` in one step, as `readJson` would. For texts of up to `maxBytesAtOnce`. */
export function readRange(
  bytes: Uint8Array,
  start: number,
  end: number,
  limits: JsonLimits,
): JsonItemReading {
  const text = decoder.decode(bytes.subarray(start, end))
  const reading = readJson(text, limits)
  if (reading.kind === 'fault') return reading
  return { kind: 'item', item: { value: reading.value, spans: reading.spans, text } }
}

/** The same for any length, in pieces. The item's text is without white space between tokens. */
export function readRangeInPieces(
  bytes: Uint8Array,
  start: number,
  end: number,
  limits: ItemLimits,
): Generator<undefined, JsonItemReading> {
  return readCopy(new CompactCopy(bytes, start, end, false, limits), limits)
}

/**
 * The items of an array, each read when it is asked for; at the end the first fault, or none. The position of a fault
 * counts from the item after the last one given; a text that is not JSON is a fault of the whole array.
 *
 * @param bytes Valid UTF-8.
 * @param start The index after the opening bracket.
 * @param limits The limits of one item.
 */
export function* readItems(
  bytes: Uint8Array,
  start: number,
  limits: ItemLimits,
  sizes: WindowSizes = defaultSizes,
): Generator<JsonItem | undefined, JsonFault | undefined> {
  let window = windowOf(bytes, start, sizes.usual)
  let index = 0
  let isFirst = true
  for (;;) {
    const begin = afterWhiteSpace(window.text, index)
    const found = itemIn(window, bytes, begin, limits, sizes)
    if (typeof found !== 'string') {
      yield found.item
      const mark = window.text.charCodeAt(found.next)
      index = found.next + 1
      if (mark === comma) {
        isFirst = false
        continue
      }
      return mark === closeBracket ? yield* endOfArray(bytes, offsetOf(window, index)) : notJson
    }
    yield undefined
    const offset = offsetOf(window, begin)
    const canGrow = begin > 0 || window.size < sizes.largest
    if (found === 'unfinished' && window.end < bytes.length && canGrow) {
      // The item may continue after the window: read again from its beginning, or with a larger window.
      window = windowOf(bytes, offset, begin > 0 ? sizes.usual : Math.min(window.size * 2, sizes.largest))
      index = 0
      continue
    }
    const copy = new CompactCopy(bytes, offset, bytes.length, true, limits)
    const reading = yield* readCopy(copy, limits)
    const next = copy.index + 1
    if (copy.copied.length === 0) {
      return isFirst && bytes[copy.index] === closeBracket ? yield* endOfArray(bytes, next) : notJson
    }
    if (reading.kind === 'fault') return reading.fault.code === 'invalid_json' ? notJson : reading.fault
    yield reading.item
    if (bytes[copy.index] === closeBracket) return yield* endOfArray(bytes, next)
    if (bytes[copy.index] !== comma) return notJson
    isFirst = false
    window = windowOf(bytes, next, sizes.usual)
    index = 0
  }
}

const notJson: JsonFault = { code: 'invalid_json', pointer: '', message: invalidJson }

function* endOfArray(bytes: Uint8Array, start: number): Generator<undefined, JsonFault | undefined> {
  const end = yield* afterBlanks(bytes, start)
  return end === bytes.length ? undefined : notJson
}

/** Reads the copy of a value that is long, or that the quick scan found doubtful. */
function* readCopy(copy: CompactCopy, limits: ItemLimits): Generator<undefined, JsonItemReading> {
  while (!copy.advance(pieceBytes)) yield undefined
  const text = decoder.decode(copy.copied)
  if (copy.isTooLarge) {
    const scan = new JsonScan(text, limits)
    const message = `Longer than ${limits.maxBytes} bytes, or than ${limits.maxBytesOutsideStrings} outside strings.`
    const fault = yield* scanInPieces(scan)
    return { kind: 'fault', fault: fault ?? { code: 'too_large', pointer: scan.pointer(), message } }
  }
  const reading = yield* readJsonInPieces(text, limits)
  if (reading.kind === 'fault') return reading
  return { kind: 'item', item: { value: reading.value, spans: reading.spans, text } }
}

/** A part of a text, and where its bytes stand in the whole. */
interface Window extends ScannedText {
  readonly start: number
  readonly size: number
  readonly end: number
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/**
 * Half a character at the end becomes a replacement character. It can only stand in a string that does not end there.
 */
function windowOf(bytes: Uint8Array, start: number, size: number): Window {
  const end = Math.min(start + size, bytes.length)
  return { text: decoder.decode(bytes.subarray(start, end)), nextBackslash: -1, start, size, end }
}

/**
 * The item that begins at `begin`, if it ends within the window and nothing in it is doubtful; `next`: the index after
 * it.
 */
function itemIn(
  window: Window,
  bytes: Uint8Array,
  begin: number,
  limits: JsonLimits,
  sizes: WindowSizes,
): { readonly item: JsonItem; readonly next: number } | NoQuickScan {
  const { text } = window
  const scan = quickScan(window, limits, begin)
  if (typeof scan === 'string') return scan
  const next = afterWhiteSpace(text, scan.end)
  if (next === text.length) return 'unfinished'
  const itemText = text.slice(begin, scan.end)
  const value = parsed(itemText)
  if (value === undefined || countKeys(value) !== scan.keys) return 'doubtful'
  // A slice keeps the whole window in memory. A window is full of short items, but may hold only one long one.
  if (itemText.length < sizes.usual / 4) return { item: { value, spans: scan.spans, text }, next }
  const start = offsetOf(window, begin)
  const own = decoder.decode(bytes.subarray(start, start + byteLengthOf(window, itemText)))
  const spans = scan.spans.map((span) => ({ ...span, start: span.start - begin, end: span.end - begin }))
  return { item: { value, spans, text: own }, next }
}

function offsetOf(window: Window, index: number): number {
  return window.start + byteLengthOf(window, window.text.slice(0, index))
}

/** The length in bytes of a part of the window's text. */
function byteLengthOf({ text, start, end }: Window, part: string): number {
  const isAscii = text.length === end - start
  return isAscii ? part.length : encoder.encode(part).length
}

function afterWhiteSpace(text: string, start: number): number {
  let index = start
  while (isWhiteSpace(text.charCodeAt(index))) index += 1
  return index
}
