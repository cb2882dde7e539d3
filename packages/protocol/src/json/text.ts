/**
 * Strict reading of JSON *text*: it refuses what `JSON.parse` accepts silently (duplicate keys, numbers that change
 * when they are read, unlimited nesting, NUL and lone surrogates). Also small edits that keep every other byte (D22,
 * D26).
 */
import { backslash, isWhiteSpace, quote } from './characters.ts'
import { countKeys, quickScan } from './quick-scan.ts'
import { JsonScan } from './scan.ts'
import type { JsonFault, JsonLimits, MemberSpan } from './scan.ts'

export type JsonReading =
  | { readonly kind: 'read'; readonly value: unknown; readonly spans: readonly MemberSpan[] }
  | { readonly kind: 'fault'; readonly fault: JsonFault }

/** Reads a JSON text strictly. A scan runs before `JSON.parse`, so hostile nesting costs no memory. */
export function readJson(text: string, limits: JsonLimits): JsonReading {
  const quick = limits.members?.depth === 2 ? 'doubtful' : quickScan({ text, nextBackslash: -1 }, limits)
  if (typeof quick !== 'string') {
    const value = parsed(text)
    if (value !== undefined && countKeys(value) === quick.keys) {
      return { kind: 'read', value, spans: quick.spans }
    }
  }
  const scan = new JsonScan(text, limits)
  const fault = scan.run()
  if (fault !== undefined) return { kind: 'fault', fault }
  return parsedAfter(scan, text)
}

/**
 * The same for a text of any length, in pieces, because a text full of keys or escapes takes milliseconds. Only
 * `JSON.parse` is one piece.
 */
export function* readJsonInPieces(text: string, limits: JsonLimits): Generator<undefined, JsonReading> {
  const scan = new JsonScan(text, limits)
  const fault = yield* scanInPieces(scan)
  if (fault !== undefined) return { kind: 'fault', fault }
  return parsedAfter(scan, text)
}

const pieceLength = 32_768

/** The scan's fault, or `undefined`. */
export function* scanInPieces(scan: JsonScan): Generator<undefined, JsonFault | undefined> {
  while (!scan.ended) {
    const fault = scan.advance(pieceLength)
    if (fault !== undefined) return fault
    yield undefined
  }
  return undefined
}

function parsedAfter(scan: JsonScan, text: string): JsonReading {
  const value = parsed(text)
  if (value !== undefined) return { kind: 'read', value, spans: scan.spans }
  return { kind: 'fault', fault: { code: 'invalid_json', pointer: '', message: invalidJsonMessage(text) } }
}

/** `undefined`, for which there is no JSON text: the text is not JSON. */
export function parsed(text: string): unknown {
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

/** Of a text whose fault has no place yet. */
export const invalidJson = 'Invalid JSON.'

function invalidJsonMessage(text: string): string {
  if (text.trim() === '') return 'The text is empty; JSON is expected.'
  if (text.charCodeAt(0) === 0xfeff) return 'The text begins with a byte order mark; send JSON without one.'
  return invalidJson
}

/** Members of JSON that came from elsewhere, or that may be damaged. */

/** A member of a value from `JSON.parse`; `undefined` if it has no member of this name, or is not an object. */
export function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The same where it is a text. */
export function memberText(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
