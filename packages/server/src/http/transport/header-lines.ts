/** The header lines of a plain request: read once, and compared with those of the next request on the same connection. */
import type { RequestHead } from '../exchange.ts'

/** A place in the bytes of the lines. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface HeaderLines {
  /** From the end of the request line to the blank line, with blanks in place of the key. */
  readonly bytes: Buffer
  readonly key: Span | undefined
  /** The place of the body's announced length. */
  readonly length: Span | undefined
  /** By name in lower case, without the key and the length, which differ from request to request. */
  readonly values: ReadonlyMap<string, string>
  readonly head: RequestHead
  /** The client wants the connection closed after the answer. */
  readonly closes: boolean
}

/** Whether the lines are the same except for a valid key and a valid length. */
export function isSame(rest: Buffer, { bytes, key, length }: HeaderLines): boolean {
  if (rest.length !== bytes.length) return false
  const lengthFirst = key !== undefined && length !== undefined && length.start < key.start
  const first = endOfSame(rest, bytes, 0, lengthFirst ? length : key)
  const second = first === undefined ? undefined : endOfSame(rest, bytes, first, lengthFirst ? key : length)
  return second !== undefined && rest.compare(bytes, second, bytes.length, second) === 0
}

/** The end of a place that may differ, if the bytes before it are the same; the beginning of the bytes if there is no such place. */
function endOfSame(rest: Buffer, bytes: Buffer, from: number, place: Span | undefined): number | undefined {
  if (place === undefined) return from
  const { start, end } = place
  return rest.compare(bytes, from, start, from, start) === 0 && isVisible(rest, place) ? end : undefined
}

/** Only visible ASCII: a line end in place of a key would begin another header. */
function isVisible(bytes: Buffer, { start, end }: Span): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte < 0x21 || byte > 0x7e) return false
  }
  return true
}

/**
 * A name of RFC 9110 §5.6.2, and visible ASCII between optional blanks. The value does not begin with a blank: otherwise 16 kB of blanks
 * in front of a forbidden byte would be divided in every possible way, which takes 300 ms.
 */
const headerLine = /\r\n([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[\x21-\x7e][\x20-\x7e\t]*)?)(?=\r\n)/y

/** A request with one of these has another framing, or needs something special from its connection. */
const unusual = new Set(['transfer-encoding', 'expect', 'upgrade', 'trailer', 'proxy-connection'])

/** `rest`: as `HeaderLines.bytes`. `undefined`: Node's HTTP has to read the lines. */
export function readLines(rest: Buffer, maxHeaders: number): HeaderLines | undefined {
  const text = rest.toString('latin1')
  const spans = new Map<string, Span>()
  headerLine.lastIndex = 0
  for (let end = 0; end < text.length - 4; end = headerLine.lastIndex) {
    const found = headerLine.exec(text)
    const name = found?.[1]?.toLowerCase()
    const given = found?.[2]
    if (name === undefined || given === undefined) return undefined
    if (unusual.has(name) || spans.has(name) || spans.size >= maxHeaders) return undefined
    const start = headerLine.lastIndex - given.length
    spans.set(name, { start, end: start + given.trimEnd().length })
  }
  const key = spans.get('x-api-key')
  const length = spans.get('content-length')
  if (key !== undefined && !isVisible(rest, key)) return undefined
  const kept = Buffer.from(rest)
  if (key !== undefined) kept.fill(' ', key.start, key.end)
  const values = valuesIn(kept.toString('latin1'), spans)
  const connection = values.get('connection')?.toLowerCase() ?? 'keep-alive'
  if (connection !== 'keep-alive' && connection !== 'close') return undefined
  const host = values.get('host')
  return {
    bytes: kept,
    key,
    length,
    values,
    head: { version: '1.1', headerCount: spans.size, hosts: host === undefined ? [] : [host] },
    closes: connection === 'close',
  }
}

/**
 * A part of a text can keep all of it in memory, and these parts live as long as the connection, so they come from a text without the
 * key.
 */
function valuesIn(keyless: string, spans: ReadonlyMap<string, Span>): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const [name, { start, end }] of spans) {
    if (name !== 'x-api-key' && name !== 'content-length') values.set(name, keyless.slice(start, end))
  }
  return values
}
