/**
 * Plain requests, read from the bytes of a connection: GET as clients write it, and POST that came with all of its body and
 * nothing else. Nothing here decides what broken bytes mean: what is not of the plainest form is not read at all, and Node's
 * parser gets every byte of it.
 */
import type { ServiceLimits } from '../limits.ts'
import type { BodyFormat } from '../request-body.ts'
import { isSame, readLines } from './header-lines.ts'
import type { HeaderLines, PlainHeaders, Span } from './header-lines.ts'
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

/** Nothing but digits, and few: what came in one piece is no longer than they can say. */
function numberIn(bytes: Buffer, { start, end }: Span): number | undefined {
  const digits = bytes.toString('latin1', start, end)
  return /^\d{1,7}$/.test(digits) ? Number(digits) : undefined
}
