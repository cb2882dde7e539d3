/**
 * Strict reading of JSON *text*, for what `JSON.parse` accepts in silence: duplicate keys, numbers that change when
 * read, nesting without end, NUL and lone surrogates; and small edits that keep every other byte (D22, D26).
 */
import { countKeys, quickScan } from './json-quick-scan.ts'
import type { ScannedText } from './json-quick-scan.ts'
import { JsonScan, backslash, closeBracket, comma, isWhiteSpace, openBracket, quote } from './json-scan.ts'
import type { JsonFault, JsonLimits, MemberSpan } from './json-scan.ts'

export type JsonReading =
  | { readonly kind: 'read'; readonly value: unknown; readonly spans: readonly MemberSpan[] }
  | { readonly kind: 'fault'; readonly fault: JsonFault }

/** Reads a JSON text strictly. A scan runs before `JSON.parse`, so hostile nesting costs no memory. */
export function readJson(text: string, limits: JsonLimits): JsonReading {
  const quick = limits.members?.depth === 2 ? undefined : quickScan({ text, nextBackslash: -1 }, limits)
  if (quick !== undefined) {
    const value = parsed(text)
    if (value !== undefined && countKeys(value) === quick.keys) {
      return { kind: 'read', value, spans: quick.spans }
    }
  }
  const scan = new JsonScan(text, limits)
  const fault = scan.run()
  if (fault !== undefined) return { kind: 'fault', fault }
  const value = parsed(text)
  if (value !== undefined) return { kind: 'read', value, spans: scan.spans }
  return { kind: 'fault', fault: { code: 'invalid_json', pointer: '', message: invalidJsonMessage(text) } }
}

/** An item of an array, and the spans of its wanted members in `text`. */
export interface JsonItem {
  readonly value: unknown
  readonly spans: readonly MemberSpan[]
  readonly text: string
}

/**
 * Below 128 kB, also with two bytes a character: memory for a longer string V8 takes anew from the system each time, which
 * clears it page by page, 5 µs for every event of a batch of 400 kB.
 */
const usualWindowBytes = 60_000

/**
 * The items of the array that a text consists of, each read when it is asked for, and the text decoded so many bytes at a time:
 * parsing all of it at once takes a millisecond for 200 kB. Ends with true behind the last. With false, if anything may have to
 * be refused there or if the text is no array: then `readJson` of the whole has to tell, and what came before is worth nothing.
 *
 * @param bytes Valid UTF-8.
 * @param limits Those of an item.
 */
export function* readItems(
  bytes: Uint8Array,
  limits: JsonLimits,
  windowBytes: number = usualWindowBytes,
): Generator<JsonItem, boolean> {
  let window = windowOf(bytes, 0, windowBytes)
  let index = behindWhiteSpace(window.text, 0)
  if (window.text.charCodeAt(index) !== openBracket) return false
  index += 1
  for (;;) {
    const { text } = window
    const begin = behindWhiteSpace(text, index)
    const scan = quickScan(window, limits, begin)
    const next = scan === undefined ? text.length : behindWhiteSpace(text, scan.end)
    if (next === text.length && window.end < bytes.length) {
      // The item may go on behind the window: once more from its beginning, or with more of it.
      const [start, size] =
        index > 0 ? [placeOf(window, index), windowBytes] : [window.start, window.size * 2]
      window = windowOf(bytes, start, size)
      index = 0
      continue
    }
    const value = scan && parsed(text.slice(begin, scan.end))
    if (scan === undefined || value === undefined || countKeys(value) !== scan.keys) return false
    yield { value, spans: scan.spans, text }
    const mark = text.charCodeAt(next)
    index = next + 1
    if (mark === closeBracket) return isBlank(bytes.subarray(placeOf(window, index)))
    if (mark !== comma) return false
  }
}

/** A part of a text, and where its bytes stand in the whole. */
interface Window extends ScannedText {
  readonly start: number
  readonly size: number
  readonly end: number
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** Half a character at the end becomes another one, which can only stand in a string that does not end there. */
function windowOf(bytes: Uint8Array, start: number, size: number): Window {
  const end = Math.min(start + size, bytes.length)
  return { text: decoder.decode(bytes.subarray(start, end)), nextBackslash: -1, start, size, end }
}

function placeOf({ text, start, end }: Window, index: number): number {
  const isAscii = text.length === end - start
  return start + (isAscii ? index : encoder.encode(text.slice(0, index)).length)
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(isWhiteSpace)
}

function behindWhiteSpace(text: string, start: number): number {
  let index = start
  while (isWhiteSpace(text.charCodeAt(index))) index += 1
  return index
}

/** `undefined`, which no JSON text stands for: the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text without white space between tokens; string contents and number lexemes stay as they are (D22). */
export function compactJson(text: string): string {
  let compact = ''
  let kept = 0
  let index = 0
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      index = stringEnd(text, index)
    } else if (isWhiteSpace(code)) {
      compact += text.slice(kept, index)
      while (index < text.length && isWhiteSpace(text.charCodeAt(index))) index += 1
      kept = index
    } else index += 1
  }
  return kept === 0 ? text : compact + text.slice(kept)
}

/**
 * The text of a JSON object with members of the outermost object set to the given JSON texts: replaced in place, or
 * appended. Everything else keeps its bytes. The text must be one that `readJson` accepts, and an object.
 */
export function setMembers(objectText: string, members: Readonly<Record<string, string>>): string {
  const reading = readJson(objectText, { maxDepth: 64, members: { keys: Object.keys(members), depth: 1 } })
  const spans = reading.kind === 'read' ? reading.spans : []
  let text = ''
  let from = 0
  for (const span of spans) {
    text += objectText.slice(from, span.start) + (members[span.key] ?? 'null')
    from = span.end
  }
  text += objectText.slice(from)
  for (const [key, value] of Object.entries(members)) {
    if (spans.some((span) => span.key === key)) continue
    const end = text.lastIndexOf('}')
    const empty = /^\s*\{\s*$/.test(text.slice(0, end))
    text = `${text.slice(0, end)}${empty ? '' : ','}${JSON.stringify(key)}:${value}${text.slice(end)}`
  }
  return text
}

/** The index after the closing quote of the string that opens at `start`. */
function stringEnd(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === backslash) index += 1
    else if (code === quote) return index + 1
  }
  return text.length
}

function invalidJsonMessage(text: string): string {
  if (text.trim() === '') return 'The text is empty; a JSON document is expected.'
  if (text.charCodeAt(0) === 0xfeff) return 'The text begins with a byte order mark; send JSON without one.'
  return 'The text is not valid JSON.'
}
