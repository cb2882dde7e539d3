/**
 * The head of an answer: the only place that writes headers. For Node's HTTP they are a record, for the bare socket they are text,
 * and both are made of the same parts.
 */
import { STATUS_CODES } from '../node-http.ts'
import type { Head } from '../storage/storage.ts'
import type { Answer, Exchange, Headers } from './exchange.ts'
import type { ServiceLimits } from './limits.ts'
import { success } from './problem.ts'
import { rateLimitHeaders } from './rate-limit.ts'
import type { BucketState } from './token-bucket.ts'

export interface AnswerHeads {
  /** All headers but those that belong to the connection, which Node's HTTP writes itself. */
  fields(exchange: Exchange): Record<string, string>
  /** The whole head. `isLast`: the connection is closed after the answer. Not for streams, whose length nobody knows. */
  text(exchange: Exchange, isLast: boolean): string
  /** The head of an answer to bytes that never became a request, and so have no exchange. The connection is closed after it. */
  refusal(requestId: string, status: number, headers: Headers, body: string): string
}

/** The state of the feed that an answer was made in (D20). */
export function feedHeaders(head: Head): Headers {
  return {
    'x-feed-head': String(head.sequenceNumber),
    'x-feed-epoch': head.epoch,
    'x-feed-revision': String(head.revision),
  }
}

/** Status of an answer; 0 where there is none. */
export function statusOf(answer: Answer): number {
  if (answer.kind === 'text') return answer.status
  return statusOfKind[answer.kind]
}

const statusOfKind = {
  notModified: success.notModified,
  pieces: success.ok,
  stream: success.ok,
  none: 0,
} as const

/** Every answer carries these. */
function commonHeaders(requestId: string): Headers {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
}

/** What is said of the body: its length, its coding and its validator. */
function bodyHeaders(answer: Answer): Headers {
  const headers: Record<string, string> = {}
  if (answer.kind === 'pieces') headers['content-length'] = String(answer.body.byteLength)
  if (answer.kind === 'text' && answer.body !== '') {
    headers['content-length'] = String(Buffer.byteLength(answer.body))
  }
  if ('coding' in answer && answer.coding !== 'identity') headers['content-encoding'] = answer.coding
  if ('etag' in answer && answer.etag !== undefined) headers['etag'] = answer.etag
  return headers
}

export function answerHeads(
  limits: Pick<ServiceLimits, 'requests' | 'keepAliveTimeoutMs' | 'maxRequestsPerSocket'>,
): AnswerHeads {
  const seconds = Math.floor(limits.keepAliveTimeoutMs / 1_000)
  const stays = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}, max=${limits.maxRequestsPerSocket}\r\n\r\n`
  const ends = 'Connection: close\r\n\r\n'
  const [beforeId = '', afterId = ''] = linesOf(commonHeaders(idPlace)).split(idPlace)
  const tokenHeaders = (tokens: BucketState | undefined): Headers =>
    tokens === undefined ? {} : rateLimitHeaders(limits.requests, tokens)

  // Of two answers in a row few differ: what is known of a feed is one object until the feed changes, polls leave the tokens as
  // they were, and an operation's own headers are one object.
  const feedLines = lastLines(feedHeaders)
  const ownLines = lastLines((headers: Headers) => headers)
  const operationLines = lastLines((headers: Headers) => headers)
  let remaining = -1
  let fullMs = -1
  let tokenText = ''
  const tokenLines = (tokens: BucketState | undefined): string => {
    if (tokens === undefined) return ''
    if (tokens.remaining !== remaining || tokens.fullMs !== fullMs) {
      remaining = tokens.remaining
      fullMs = tokens.fullMs
      tokenText = linesOf(tokenHeaders(tokens))
    }
    return tokenText
  }
  const head = (status: number, requestId: string, lines: string, isLast: boolean): string =>
    `${statusLine(status)}${beforeId}${requestId}${afterId}${lines}Date: ${httpDate()}\r\n${isLast ? ends : stays}`

  return {
    fields({ request, routed, answer, tokens }) {
      const feed = 'feed' in answer ? answer.feed : undefined
      return {
        ...commonHeaders(request.id),
        ...tokenHeaders(tokens),
        ...routed.headers,
        ...(answer.kind === 'none' ? {} : answer.headers),
        ...(feed === undefined ? {} : feedHeaders(feed)),
        ...bodyHeaders(answer),
      }
    },
    text({ request, routed, answer, tokens }, isLast) {
      const feed = 'feed' in answer ? answer.feed : undefined
      const lines =
        tokenLines(tokens) +
        operationLines(routed.headers) +
        (answer.kind === 'none' ? '' : ownLines(answer.headers)) +
        (feed === undefined ? '' : feedLines(feed)) +
        linesOf(bodyHeaders(answer))
      return head(statusOf(answer), request.id, lines, isLast)
    },
    refusal(requestId, status, headers, body) {
      const answer = { kind: 'text', status, headers, body } as const
      return head(status, requestId, linesOf(headers) + linesOf(bodyHeaders(answer)), true)
    },
  }
}

/** Stands for a request's id, and in none. */
const idPlace = '{id}'

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
}

function linesOf(headers: Headers): string {
  let lines = ''
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`
  return lines
}

/** Keeps the lines of the last value. */
function lastLines<Value extends object>(headersOf: (value: Value) => Headers): (value: Value) => string {
  let last: Value | undefined
  let lines = ''
  return (value) => {
    if (value !== last) {
      last = value
      lines = linesOf(headersOf(value))
    }
    return lines
  }
}

let dateSecond = 0
let dateText = ''

/** As RFC 9110 §5.6.7 has it; made once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1_000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1_000).toUTCString()
  }
  return dateText
}
