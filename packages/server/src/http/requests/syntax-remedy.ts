/** What usually makes a text no JSON, by the byte at which it stops being JSON. A sentence after a blank, or nothing. */
import { findSyntaxFault, invalidJson, textPositionOf } from '@property-events/protocol'

const comma = 0x2c
const colon = 0x3a
const slash = 0x2f
const hash = 0x23
const closeBrace = 0x7d
const closeBracket = 0x5d
const openBrace = 0x7b
const doubleQuote = 0x22
const singleQuote = 0x27
/** The first byte of a typographic quotation mark. */
const curlyQuote = 0xe2

/** `offset`: of the first byte that does not belong. */
export function syntaxRemedy(body: Uint8Array, offset: number, format: 'json' | 'ndjson'): string {
  const byte = body[offset]
  const before = body[lastBefore(body, offset)]
  if (byte === undefined) return body.length === 0 ? '' : ' Close every bracket and quotation mark.'
  if (byte === openBrace && before === closeBrace) {
    return format === 'json'
      ? ' If each line is an event, send them as application/x-ndjson (curl: --data-binary, which keeps line breaks).'
      : ' Put each event on a line of its own; curl keeps line breaks with --data-binary.'
  }
  if (byte === singleQuote) {
    return offset === 0
      ? ' The body itself is in single quotes. On Windows, put it in double quotes, with \\" inside.'
      : ' Names and texts must be in double quotes.'
  }
  if (byte === closeBrace || byte === closeBracket) return bracketRemedy(before)
  if (byte === slash || byte === hash) return ' JSON has no comments: remove it.'
  if (before === comma && byte >= 0x30 && byte <= 0x39)
    return ' A number has no commas between its digits; names are in double quotes.'
  if (byte === curlyQuote) return ' Names and texts must be in straight double quotes.'
  if (before === closeBrace || before === closeBracket)
    return ' Either a comma is missing before it, or the JSON has ended: then remove what follows.'
  if (byte === doubleQuote) return ' A comma or a colon is missing before it.'
  if (isLetter(byte)) {
    if (before === doubleQuote)
      return String.raw` A quotation mark inside a text is written \"; after a text comes a comma or a bracket.`
    const word = Buffer.from(body.subarray(offset, offset + 200)).toString('latin1')
    if (/^(?:NaN|Infinity|undefined)\b/.test(word))
      return ' JSON has no such value: send a number in digits, or null if there is none.'
    if (offset === 0 && /^[\w./-]+\.(?:json|ndjson|jsonl|txt)\s*$/.test(word))
      return ' This is the name of a file: to send what is in it, put @ before the name (curl: --data-binary @FILE).'
    return ' Names and texts must be in double quotes; true, false and null are written in lower case.'
  }
  return ''
}

function bracketRemedy(before: number | undefined): string {
  if (before === comma) return ' Remove the comma before it.'
  if (before === colon) return ' The value before it is missing.'
  return before === closeBrace || before === closeBracket
    ? ' There is one bracket too many, or one of the other kind is missing.'
    : ''
}

/** The index of the last byte before that is not a blank; -1: there is none. Looks at most 1,000 bytes back. */
function lastBefore(body: Uint8Array, offset: number): number {
  let at = offset - 1
  while (at >= 0 && offset - at < 1_000 && (body[at] ?? 0) <= 0x20) at -= 1
  return at
}

function isLetter(byte: number): boolean {
  return (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
}

/** Texts with more bytes would take too long in one turn. */
const longestText = 16_384

/** Where a short text stops being JSON, in a sentence without any of it, which may be about a person. */
export function syntaxFaultText(text: string): string {
  const fault = syntaxFaultOf(Buffer.from(text))
  return fault === undefined
    ? invalidJson
    : `Invalid JSON at line ${fault.line}, column ${fault.column}.${fault.remedy}`
}

/** The same in parts; `undefined` for a long text too. */
export function syntaxFaultOf(
  bytes: Uint8Array,
):
  | { readonly line: number; readonly column: number; readonly isCutOff: boolean; readonly remedy: string }
  | undefined {
  const offset = bytes.length > longestText ? undefined : lastOf(findSyntaxFault(bytes))
  if (offset === undefined) return undefined
  const { line, column } = lastOf(textPositionOf(bytes, offset))
  return { line, column, isCutOff: offset === bytes.length, remedy: syntaxRemedy(bytes, offset, 'json') }
}

function lastOf<Value>(steps: Generator<undefined, Value>): Value {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
