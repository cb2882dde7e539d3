/**
 * Plain requests, read from the bytes of a connection: GET as clients write it, and POST that came with all of its body and nothing else.
 * Nothing here decides what broken bytes mean: bytes that are not of the plainest form are not read at all, and Node's parser gets every
 * one of them.
 */
import type { ServiceLimits } from '../limits.ts'
import type { Router } from '../router.ts'
import type { Routed } from '../routed.ts'
import type { RequestHead } from '../exchange.ts'

/** A request in the bytes that were read. */
export interface PlainHead {
  readonly method: 'GET' | 'POST'
  /** Path and query as they were on the request line. */
  readonly target: string
  readonly routed: Routed
  readonly lines: HeaderLines
  /** A part of the bytes; `undefined` if there is no such header. */
  readonly key: Buffer | undefined
  /** A part of the bytes, everything after the head; `undefined` if no body was announced. */
  readonly body: Buffer | undefined
}

type PlainHeadLimits = Pick<ServiceLimits, 'maxHeaderBytes' | 'maxHeaders' | 'maxBodyBytes'>

/** `undefined`: Node's HTTP has to read the bytes. */
export type PlainHeads = (bytes: Buffer) => PlainHead | undefined

type RequestLine = Pick<PlainHead, 'method' | 'target' | 'routed'>

/**
 * Reads the requests of one connection, one after the other. Between two requests a client usually changes only its target and the length
 * of its body, so what was read is kept and compared. The lines are kept without the key: the process holds no list of keys (D11).
 */
export function plainHeads(limits: PlainHeadLimits, router: Router): PlainHeads {
  let line = ''
  let asked: RequestLine | undefined
  let lines: HeaderLines | undefined

  return (bytes) => {
    const headEnd = bytes[0] === letterP ? bytes.indexOf(blankLine) + blankLine.length : bytes.length
    if (headEnd > limits.maxHeaderBytes || !endsBlank(bytes, headEnd)) return undefined
    const lineEnd = bytes.indexOf(carriageReturn)
    const given = bytes.toString('latin1', 0, lineEnd)
    if (given !== line) {
      line = given
      asked = readRequestLine(given, router)
    }
    if (asked === undefined) return undefined
    const rest = bytes.subarray(lineEnd, headEnd)
    if (lines === undefined || !isSame(rest, lines)) lines = readLines(rest, limits.maxHeaders)
    if (lines === undefined) return undefined
    const { method, target, routed } = asked
    const key = lines.key && rest.subarray(lines.key.start, lines.key.end)
    if (method === 'GET') {
      return lines.length === undefined ? { method, target, routed, lines, key, body: undefined } : undefined
    }
    const body = bytes.subarray(headEnd)
    if (lines.length === undefined || numberIn(rest, lines.length) !== body.length) return undefined
    return body.length > limits.maxBodyBytes ? undefined : { method, target, routed, lines, key, body }
  }
}

const requestLinePattern = /^(GET|POST) (\/[\x21-\x7e]*) HTTP\/1\.1$/

function readRequestLine(line: string, router: Router): RequestLine | undefined {
  const [, method, target = ''] = requestLinePattern.exec(line) ?? []
  if (method !== 'GET' && method !== 'POST') return undefined
  const routed = router(method, target)
  return routed.transport === 'node' ? undefined : { method, target, routed }
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

/** Only digits, and few of them: one piece of bytes is no longer than they can express. */
function numberIn(bytes: Buffer, { start, end }: Span): number | undefined {
  const digits = bytes.toString('latin1', start, end)
  return /^\d{1,7}$/.test(digits) ? Number(digits) : undefined
}

/** A place in the bytes of the lines. */
interface Span {
  readonly start: number
  readonly end: number
}

interface HeaderLines {
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
function isSame(rest: Buffer, { bytes, key, length }: HeaderLines): boolean {
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
function readLines(rest: Buffer, maxHeaders: number): HeaderLines | undefined {
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
