/**
 * Plain requests, read from the bytes of a connection: GET as clients write it, and POST that came with all of its body and nothing else.
 * Nothing here decides what broken bytes mean: bytes that are not of the plainest form are not read at all, and Node's parser gets every
 * one of them.
 */
import type { ServiceLimits } from '../limits.ts'
import type { Router } from '../router.ts'
import type { Routed } from '../routed.ts'
import { isSame, readLines } from './header-lines.ts'
import type { HeaderLines, Span } from './header-lines.ts'

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

export type PlainHeadLimits = Pick<ServiceLimits, 'maxHeaderBytes' | 'maxHeaders' | 'maxBodyBytes'>

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
