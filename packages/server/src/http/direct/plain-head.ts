/**
 * Plain requests, read from the bytes of a connection: GET as clients write it, and POST that came with all of its body and
 * nothing else. Nothing here decides what broken bytes mean: what is not of the plainest form is not read at all, and Node's
 * parser gets every byte of it.
 */
import { acceptsMediaType, preferredCoding } from '../accept.ts'
import type { ContentCoding } from '../accept.ts'
import { isHost } from '../guards.ts'
import type { ServiceLimits } from '../limits.ts'
import { minSequenceHeader } from '../min-sequence.ts'
import { plainBodyFormat } from '../request-body.ts'
import type { BodyFormat } from '../request-body.ts'
import type { DirectTarget, PublicationTarget, ReadPublicationTarget, ReadTarget } from './target.ts'

interface PlainParts {
  /** Path and query as they stood on the request line. */
  readonly targetText: string
  /** The key as it was sent: a part of the bytes that were read. */
  readonly keyBytes: Buffer
  readonly headers: PlainHeaders
}

/** A GET without a body and without anything that a direct read would not understand. */
export interface PlainRead extends PlainParts {
  readonly kind: 'read'
  readonly target: DirectTarget
}

/** A POST of what is to be published. */
export interface PlainPublication extends PlainParts {
  readonly kind: 'publication'
  readonly target: PublicationTarget
  readonly format: BodyFormat
  /** A part of the bytes that were read, all that stood behind the head. */
  readonly body: Buffer
}

export type PlainRequest = PlainRead | PlainPublication

/** What a direct answer wants to know of the headers. */
export interface PlainHeaders {
  readonly coding: ContentCoding
  readonly ifNoneMatch: string | undefined
  readonly requestId: string | undefined
  readonly forwardedFor: string | undefined
  /** The client wants the connection closed behind the answer. */
  readonly closes: boolean
}

export type PlainHeadLimits = Pick<
  ServiceLimits,
  'maxHeaderBytes' | 'maxHeaders' | 'maxTargetLength' | 'maxBodyBytes'
>

/** `undefined`: Node's HTTP has to read the bytes. */
export type PlainHeads = (bytes: Buffer) => PlainRequest | undefined

/** What a request line asks for. */
type Asked = { readonly targetText: string } & (
  | { readonly kind: 'read'; readonly target: DirectTarget }
  | { readonly kind: 'publication'; readonly target: PublicationTarget }
)

/**
 * Reads the requests of one connection, one after the other. Between two requests a client changes its target and the length of
 * its body at most, as a rule, so what was read is kept and compared. The lines are kept without the key: the process holds no
 * list of keys (D11).
 */
export function plainHeads(
  limits: PlainHeadLimits,
  readTarget: ReadTarget,
  readPublicationTarget: ReadPublicationTarget,
): PlainHeads {
  let line = ''
  let asked: Asked | undefined
  let lines: HeaderLines | undefined

  const askedBy = (requestLine: string): Asked | undefined => {
    const [, method, targetText = ''] = requestLinePattern.exec(requestLine) ?? []
    if (method === undefined || targetText.length > limits.maxTargetLength || targetText.includes('#'))
      return undefined
    if (method === 'GET') {
      const target = readTarget(targetText)
      return target && { kind: 'read', targetText, target }
    }
    const target = readPublicationTarget(targetText)
    return target && { kind: 'publication', targetText, target }
  }

  return (bytes) => {
    const headEnd = bytes[0] === letterP ? bytes.indexOf(blankLine) + blankLine.length : bytes.length
    if (headEnd > limits.maxHeaderBytes || !endsBlank(bytes, headEnd)) return undefined
    const lineEnd = bytes.indexOf(carriageReturn)
    const given = bytes.toString('latin1', 0, lineEnd)
    if (given !== line) {
      line = given
      asked = askedBy(given)
    }
    if (asked === undefined) return undefined
    const rest = bytes.subarray(lineEnd, headEnd)
    if (lines === undefined || !isSame(rest, lines)) lines = readLines(rest, limits.maxHeaders)
    if (lines === undefined) return undefined
    const { headers, key, length, format } = lines
    const parts = { targetText: asked.targetText, headers, keyBytes: rest.subarray(key.start, key.end) }
    if (asked.kind === 'read') {
      return length === undefined ? { kind: 'read', target: asked.target, ...parts } : undefined
    }
    const body = bytes.subarray(headEnd)
    if (length === undefined || format === undefined || body.length === 0) return undefined
    if (body.length > limits.maxBodyBytes || numberIn(rest, length) !== body.length) return undefined
    return { kind: 'publication', target: asked.target, format, body, ...parts }
  }
}

const carriageReturn = 13
const lineFeed = 10
const letterP = 0x50
const blankLine = Buffer.from('\r\n\r\n')

function endsBlank(bytes: Buffer, length: number): boolean {
  return (
    length >= 4 &&
    bytes[length - 1] === lineFeed &&
    bytes[length - 2] === carriageReturn &&
    bytes[length - 3] === lineFeed &&
    bytes[length - 4] === carriageReturn
  )
}

const requestLinePattern = /^(GET|POST) (\/[\x21-\x7e]*) HTTP\/1\.1$/

/** Where something stands in the bytes of the lines. */
interface Span {
  readonly start: number
  readonly end: number
}

/** Nothing but digits, and few: what came in one piece is no longer than they can say. */
function numberIn(bytes: Buffer, { start, end }: Span): number | undefined {
  const digits = bytes.toString('latin1', start, end)
  return /^\d{1,7}$/.test(digits) ? Number(digits) : undefined
}

interface HeaderLines {
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
function isSame(rest: Buffer, { bytes, key, length }: HeaderLines): boolean {
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

function readLines(rest: Buffer, maxHeaders: number): HeaderLines | undefined {
  const text = rest.toString('latin1')
  const values = new Map<string, string>()
  const starts = { 'x-api-key': 0, 'content-length': 0 }
  headerLine.lastIndex = 0
  for (let end = 0; end < text.length - 4; end = headerLine.lastIndex) {
    const found = headerLine.exec(text)
    const name = found?.[1]?.toLowerCase()
    const given = found?.[2]
    if (name === undefined || given === undefined) return undefined
    if (unusual.has(name) || values.has(name) || values.size >= maxHeaders) return undefined
    values.set(name, given.trimEnd())
    if (name === 'x-api-key' || name === 'content-length') starts[name] = headerLine.lastIndex - given.length
  }
  const key = values.get('x-api-key') ?? ''
  const connection = values.get('connection')?.toLowerCase() ?? 'keep-alive'
  if (key === '' || !isHost(values.get('host'))) return undefined
  if (!acceptsMediaType(values.get('accept'), 'application/json')) return undefined
  if (connection !== 'keep-alive' && connection !== 'close') return undefined
  const length = values.get('content-length')
  const kept = Buffer.from(rest)
  const keySpan = spanOf(starts['x-api-key'], key)
  kept.fill(' ', keySpan.start, keySpan.end)
  return {
    bytes: kept,
    key: keySpan,
    length: length === undefined ? undefined : spanOf(starts['content-length'], length),
    format: plainBodyFormat(values.get('content-type')),
    headers: {
      coding: preferredCoding(values.get('accept-encoding')),
      ifNoneMatch: values.get('if-none-match'),
      requestId: values.get('x-request-id'),
      forwardedFor: values.get('x-forwarded-for'),
      closes: connection === 'close',
    },
  }
}

function spanOf(start: number, value: string): Span {
  return { start, end: start + value.length }
}
