/**
 * Heads of GET requests as clients write them, read from the bytes of a connection. Nothing here decides what broken bytes
 * mean: a head that is not of the plainest form is not read at all, and Node's parser gets every byte of it.
 */
import { acceptsMediaType, preferredCoding } from '../accept.ts'
import type { ContentCoding } from '../accept.ts'
import { isHost } from '../guards.ts'
import type { ServiceLimits } from '../limits.ts'
import { minSequenceHeader } from '../min-sequence.ts'
import type { DirectTarget, ReadTarget } from './target.ts'

/** A GET without a body and without anything that a direct read would not understand. */
export interface PlainRequest {
  /** Path and query as they stood on the request line. */
  readonly targetText: string
  readonly target: DirectTarget
  /** The key as it was sent: a part of the bytes that were read. */
  readonly keyBytes: Buffer
  readonly headers: PlainHeaders
}

/** What a direct read wants to know of the headers. */
export interface PlainHeaders {
  readonly coding: ContentCoding
  readonly ifNoneMatch: string | undefined
  readonly requestId: string | undefined
  readonly forwardedFor: string | undefined
  /** The client wants the connection closed behind the answer. */
  readonly closes: boolean
}

export type PlainHeadLimits = Pick<ServiceLimits, 'maxHeaderBytes' | 'maxHeaders' | 'maxTargetLength'>

/** `undefined`: Node's HTTP has to read the bytes. */
export type PlainHeads = (bytes: Buffer) => PlainRequest | undefined

/**
 * Reads the heads of one connection, one after the other. Between two requests a client changes its target at most, as
 * a rule, so what was read is kept and compared. The lines are kept without the key: the process holds no
 * list of keys (D11).
 */
export function plainHeads(limits: PlainHeadLimits, readTarget: ReadTarget): PlainHeads {
  let line = ''
  let targetText: string | undefined
  let target: DirectTarget | undefined
  let lines: HeaderLines | undefined

  return (bytes) => {
    if (bytes.length > limits.maxHeaderBytes || !endsBlank(bytes)) return undefined
    const lineEnd = bytes.indexOf(carriageReturn)
    const given = bytes.toString('latin1', 0, lineEnd)
    if (given !== line) {
      line = given
      targetText = targetOf(given, limits.maxTargetLength)
      target = targetText === undefined ? undefined : readTarget(targetText)
    }
    if (targetText === undefined || target === undefined) return undefined
    const rest = bytes.subarray(lineEnd)
    if (lines === undefined || !isSame(rest, lines)) lines = readLines(rest, limits.maxHeaders)
    if (lines === undefined) return undefined
    const { headers, keyStart, keyEnd } = lines
    return { targetText, target, headers, keyBytes: rest.subarray(keyStart, keyEnd) }
  }
}

const carriageReturn = 13
const lineFeed = 10

function endsBlank(bytes: Buffer): boolean {
  const { length } = bytes
  return (
    length >= 4 &&
    bytes[length - 1] === lineFeed &&
    bytes[length - 2] === carriageReturn &&
    bytes[length - 3] === lineFeed &&
    bytes[length - 4] === carriageReturn
  )
}

const requestLine = /^GET (\/[\x21-\x7e]*) HTTP\/1\.1$/

function targetOf(line: string, maxLength: number): string | undefined {
  const target = requestLine.exec(line)?.[1]
  return target === undefined || target.length > maxLength || target.includes('#') ? undefined : target
}

interface HeaderLines {
  /** From the end of the request line to the blank line, with blanks in place of the key. */
  readonly bytes: Buffer
  readonly keyStart: number
  readonly keyEnd: number
  readonly headers: PlainHeaders
}

/** Whatever stands in the key's place: only a key that has been proven gets an answer from here. */
function isSame(rest: Buffer, { bytes, keyStart, keyEnd }: HeaderLines): boolean {
  return (
    rest.length === bytes.length &&
    rest.compare(bytes, 0, keyStart, 0, keyStart) === 0 &&
    rest.compare(bytes, keyEnd, bytes.length, keyEnd) === 0
  )
}

/**
 * A name of RFC 9110 §5.6.2, and visible ASCII between optional blanks. The value begins with none: if it could, 16 kB of blanks
 * in front of a byte that is not allowed would be divided in every possible way, which takes 300 ms.
 */
const headerLine = /\r\n([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[\x21-\x7e][\x20-\x7e\t]*)?)(?=\r\n)/y

/** Whoever sends one of these wants something that the router knows about. */
const unusual = new Set([
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'proxy-connection',
  minSequenceHeader,
])

function readLines(rest: Buffer, maxHeaders: number): HeaderLines | undefined {
  const text = rest.toString('latin1')
  const values = new Map<string, string>()
  let keyStart = 0
  headerLine.lastIndex = 0
  for (let end = 0; end < text.length - 4; end = headerLine.lastIndex) {
    const found = headerLine.exec(text)
    const name = found?.[1]?.toLowerCase()
    const given = found?.[2]
    if (name === undefined || given === undefined) return undefined
    if (unusual.has(name) || values.has(name) || values.size >= maxHeaders) return undefined
    values.set(name, given.trimEnd())
    if (name === 'x-api-key') keyStart = headerLine.lastIndex - given.length
  }
  const key = values.get('x-api-key') ?? ''
  const connection = values.get('connection')?.toLowerCase() ?? 'keep-alive'
  if (key === '' || !isHost(values.get('host'))) return undefined
  if (!acceptsMediaType(values.get('accept'), 'application/json')) return undefined
  if (connection !== 'keep-alive' && connection !== 'close') return undefined
  const keyEnd = keyStart + key.length
  const kept = Buffer.from(rest)
  kept.fill(' ', keyStart, keyEnd)
  return {
    bytes: kept,
    keyStart,
    keyEnd,
    headers: {
      coding: preferredCoding(values.get('accept-encoding')),
      ifNoneMatch: values.get('if-none-match'),
      requestId: values.get('x-request-id'),
      forwardedFor: values.get('x-forwarded-for'),
      closes: connection === 'close',
    },
  }
}
