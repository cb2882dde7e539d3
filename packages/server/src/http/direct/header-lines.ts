/** The lines of a plain request's head: read once, and compared with those of the next request over the same connection. */
import { acceptsMediaType, preferredCoding } from '../accept.ts'
import type { ContentCoding } from '../accept.ts'
import { isHost } from '../guards.ts'
import { minSequenceHeader } from '../min-sequence.ts'
import { plainBodyFormat } from '../request-body.ts'
import type { BodyFormat } from '../request-body.ts'

/** What a direct answer wants to know of the headers. */
export interface PlainHeaders {
  readonly coding: ContentCoding
  readonly ifNoneMatch: string | undefined
  readonly requestId: string | undefined
  readonly forwardedFor: string | undefined
  /** The client wants the connection closed behind the answer. */
  readonly closes: boolean
}

/** Where something stands in the bytes of the lines. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface HeaderLines {
  /** From the end of the request line to the blank line, with blanks in place of the key. */
  readonly bytes: Buffer
  readonly key: Span
  /** Of the body, as it was announced. */
  readonly length: Span | undefined
  /** `undefined`: none that is published, or in an unusual spelling. */
  readonly format: BodyFormat | undefined
  readonly headers: PlainHeaders
}

/**
 * Whatever stands in the places of key and length: only a key that has been proven gets an answer from here, and only a number
 * that is the body's length.
 */
export function isSame(rest: Buffer, { bytes, key, length }: HeaderLines): boolean {
  if (rest.length !== bytes.length) return false
  if (length === undefined) return isSameBetween(rest, bytes, 0, key) && isSameBehind(rest, bytes, key)
  const [first, second] = key.start < length.start ? [key, length] : [length, key]
  return (
    isSameBetween(rest, bytes, 0, first) &&
    isSameBetween(rest, bytes, first.end, second) &&
    isSameBehind(rest, bytes, second)
  )
}

function isSameBetween(rest: Buffer, bytes: Buffer, from: number, { start }: Span): boolean {
  return rest.compare(bytes, from, start, from, start) === 0
}

function isSameBehind(rest: Buffer, bytes: Buffer, { end }: Span): boolean {
  return rest.compare(bytes, end, bytes.length, end) === 0
}

/**
 * A name of RFC 9110 §5.6.2, and visible ASCII between optional blanks. The value begins with none: if it could, 16 kB of blanks
 * in front of a byte that is not allowed would be divided in every possible way, which takes 300 ms.
 */
const headerLine = /\r\n([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[\x21-\x7e][\x20-\x7e\t]*)?)(?=\r\n)/y

/** Whoever sends one of these wants something that the router knows about. */
const unusual = new Set([
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'trailer',
  'proxy-connection',
  minSequenceHeader,
])

/** `rest`: as `HeaderLines.bytes`. `undefined`: Node's HTTP has to read them. */
export function readLines(rest: Buffer, maxHeaders: number): HeaderLines | undefined {
  const text = rest.toString('latin1')
  const values = new Map<string, Span>()
  headerLine.lastIndex = 0
  for (let end = 0; end < text.length - 4; end = headerLine.lastIndex) {
    const found = headerLine.exec(text)
    const name = found?.[1]?.toLowerCase()
    const given = found?.[2]
    if (name === undefined || given === undefined) return undefined
    if (unusual.has(name) || values.has(name) || values.size >= maxHeaders) return undefined
    values.set(name, spanOf(headerLine.lastIndex - given.length, given.trimEnd()))
  }
  const key = values.get('x-api-key')
  if (key === undefined || key.start === key.end) return undefined
  const kept = Buffer.from(rest)
  kept.fill(' ', key.start, key.end)
  // A part of a text can keep all of it in memory, and some values stay as long as the connection: they are parts of one without the key.
  const keyless = kept.toString('latin1')
  const valueOf = (name: string): string | undefined => {
    const span = values.get(name)
    return span && keyless.slice(span.start, span.end)
  }
  const connection = valueOf('connection')?.toLowerCase() ?? 'keep-alive'
  if (!isHost(valueOf('host'))) return undefined
  if (!acceptsMediaType(valueOf('accept'), 'application/json')) return undefined
  if (connection !== 'keep-alive' && connection !== 'close') return undefined
  return {
    bytes: kept,
    key,
    length: values.get('content-length'),
    format: plainBodyFormat(valueOf('content-type')),
    headers: {
      coding: preferredCoding(valueOf('accept-encoding')),
      ifNoneMatch: valueOf('if-none-match'),
      requestId: valueOf('x-request-id'),
      forwardedFor: valueOf('x-forwarded-for'),
      closes: connection === 'close',
    },
  }
}

function spanOf(start: number, value: string): Span {
  return { start, end: start + value.length }
}
