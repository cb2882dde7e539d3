/**
 * The head of an answer. No other file writes headers. For Node's HTTP they are a list, for the bare socket they are text, and both are
 * built from the same parts.
 */
import { formatTicks, millisecondsOfTicks } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import { STATUS_CODES } from '../runtime/node-http.ts'
import { sameOriginOnly } from './cross-origin.ts'
import type { CrossOrigin } from './cross-origin.ts'
import type { Answer, Headers, FeedState } from './exchange.ts'
import type { Exchange } from './routed.ts'
import type { Spending } from './rate-limit/rate-limit-headers.ts'
import type { ServiceLimits } from './limits.ts'
import { success } from './problem/problem.ts'
import { rateLimitHeaders } from './rate-limit/rate-limit-headers.ts'
import type { BucketLimits, BucketState } from './rate-limit/token-bucket.ts'

export interface AnswerHeads {
  /** Names and values in turn: all headers except those of the connection, which Node's HTTP writes itself. The caller may add more. */
  fields(exchange: Exchange): string[]
  /** The whole head. `isLast`: the connection is closed after the answer. Answers without a length are sent in chunks. */
  text(exchange: Exchange, isLast: boolean): string
  /** The head of an answer to bytes that never became a request, and so have no exchange. The connection closes after it. */
  refusal(requestId: string, status: number, headers: Headers, body: string): string
}

/** The state of the feed that an answer was made in (D20). */
function feedHeaders(head: FeedState): Headers {
  return {
    'x-feed-head': String(head.sequenceNumber),
    'x-feed-epoch': head.epoch,
    'x-feed-revision': String(head.revision),
  }
}

/** The status of an answer; 0 if there is none. */
export function statusOf(answer: Answer): number {
  if (answer.kind === 'text') return answer.status
  return statusOfKind[answer.kind]
}

const statusOfKind = {
  notModified: success.notModified,
  pieces: success.ok,
  stream: success.ok,
  live: success.ok,
  none: 0,
} as const

function feedOf(answer: Answer): FeedState | undefined {
  return answer.kind === 'text' || answer.kind === 'none' ? undefined : answer.feed
}

function completeUntilOf(answer: Answer): Ticks | undefined {
  return answer.kind === 'text' || answer.kind === 'none' || answer.kind === 'live'
    ? undefined
    : answer.completeUntil
}

/**
 * Of a window: the moment up to which it is complete, which its reader sends as the next `from` (P3). `date`: the same to the second, for
 * readers who know no other header, and never in the future. A window that ended long ago is nobody's last poll, so its answer has the
 * date of any other.
 */
function windowHeaders(completeUntil: Ticks): { readonly moment: Headers; readonly date: string } {
  const ms = millisecondsOfTicks(completeUntil)
  const agoMs = Date.now() - ms
  const date = agoMs < 0 || agoMs > longAgoMs ? httpDate() : new Date(ms).toUTCString()
  return { moment: { 'x-feed-complete-until': formatTicks(completeUntil) }, date }
}

/** The clock of a reader who polls up to its own time is not further off than this. */
const longAgoMs = 3_600_000

/** Every answer carries these. */
function commonHeaders(requestId: string): Headers {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
}

/** Adds the headers that describe the body: its length, its coding and its validator. */
function addBodyHeaders(answer: Answer, add: (name: string, value: string) => void): void {
  const { kind } = answer
  if (kind === 'pieces') add('content-length', String(answer.body.byteLength))
  if (kind === 'stream' && answer.byteLength !== undefined) add('content-length', String(answer.byteLength))
  // Without a length, a client would wait for the end of the connection; a 204 ends with its head (RFC 9110 §8.6).
  if (kind === 'text' && answer.status !== success.noContent) {
    add('content-length', String(Buffer.byteLength(answer.body)))
  }
  if ((kind === 'pieces' || kind === 'stream') && answer.coding !== 'identity') {
    add('content-encoding', answer.coding)
  }
  if (kind !== 'text' && kind !== 'none' && kind !== 'live' && answer.etag !== undefined) {
    add('etag', answer.etag)
  }
}

/** Whether the answer's length is unknown, so that it is sent in chunks (RFC 9112 §7.1). */
export function isChunked(answer: Answer): boolean {
  return answer.kind === 'live' || (answer.kind === 'stream' && answer.byteLength === undefined)
}

/** The same as lines, without an object in between: most answers have one or two of them. */
function bodyLines(answer: Answer): string {
  let lines = ''
  addBodyHeaders(answer, (name, value) => {
    lines += `${name}: ${value}\r\n`
  })
  // Node's HTTP adds this header itself.
  return isChunked(answer) ? `${lines}transfer-encoding: chunked\r\n` : lines
}

export function answerHeads(
  limits: Pick<ServiceLimits, 'keepAliveTimeoutMs' | 'maxRequestsPerSocket'>,
  sharedWith: CrossOrigin = sameOriginOnly,
): AnswerHeads {
  const seconds = Math.floor(limits.keepAliveTimeoutMs / 1_000)
  const stays = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}, max=${limits.maxRequestsPerSocket}\r\n\r\n`
  const ends = 'Connection: close\r\n\r\n'
  const [beforeId = '', afterId = ''] = linesOf(commonHeaders(idPlace)).split(idPlace)

  // Two answers in a row seldom differ: what is known of a feed is one object until the feed changes, polls leave the tokens as they
  // were, and an operation's own headers are one object.
  const feedLines = lastOf((feed: FeedState) => linesOf(feedHeaders(feed)))
  const ownLines = lastOf(linesOf)
  const operationLines = lastOf(linesOf)
  const tokenLines = lastOfTokens(linesOf)
  const feedPairs = lastOf((feed: FeedState) => pairsOf(feedHeaders(feed)))
  const ownPairs = lastOf(pairsOf)
  const operationPairs = lastOf(pairsOf)
  const tokenPairs = lastOfTokens(pairsOf)
  const head = (
    status: number,
    requestId: string,
    lines: string,
    isLast: boolean,
    date = httpDate(),
  ): string =>
    `${statusLine(status)}${beforeId}${requestId}${afterId}${lines}Date: ${date}\r\n${isLast ? ends : stays}`

  return {
    fields(exchange) {
      const { request, routed, answer, spending } = exchange
      const feed = feedOf(answer)
      const fields = pairsOf(commonHeaders(request.id))
      fields.push(...tokenPairs(spending), ...operationPairs(routed.headers))
      if (answer.kind !== 'none') fields.push(...ownPairs(sharedWith(exchange, answer.headers)))
      if (feed !== undefined) fields.push(...feedPairs(feed))
      addBodyHeaders(answer, (name, value) => fields.push(name, value))
      const completeUntil = completeUntilOf(answer)
      if (completeUntil === undefined) return fields
      const { moment, date } = windowHeaders(completeUntil)
      fields.push(...pairsOf(moment), 'date', date)
      return fields
    },
    text(exchange, isLast) {
      const { request, routed, answer, spending } = exchange
      const feed = feedOf(answer)
      const lines =
        tokenLines(spending) +
        operationLines(routed.headers) +
        (answer.kind === 'none' ? '' : ownLines(sharedWith(exchange, answer.headers))) +
        (feed === undefined ? '' : feedLines(feed)) +
        bodyLines(answer)
      const completeUntil = completeUntilOf(answer)
      if (completeUntil === undefined) return head(statusOf(answer), request.id, lines, isLast)
      const { moment, date } = windowHeaders(completeUntil)
      return head(statusOf(answer), request.id, lines + linesOf(moment), isLast, date)
    },
    refusal(requestId, status, headers, body) {
      const answer = { kind: 'text', status, headers, body } as const
      return head(status, requestId, linesOf(headers) + bodyLines(answer), true)
    },
  }
}

/** A placeholder for a request's id that no id contains. */
const idPlace = '{id}'

const statusLines = new Map<number, string>()

function statusLine(status: number): string {
  const known = statusLines.get(status)
  if (known !== undefined) return known
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  statusLines.set(status, line)
  return line
}

function linesOf(headers: Headers): string {
  let lines = ''
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`
  return lines
}

function pairsOf(headers: Headers): string[] {
  const pairs: string[] = []
  for (const name in headers) pairs.push(name, headers[name] ?? '')
  return pairs
}

/** Remembers what was made of the last value. */
function lastOf<Value extends object, Made>(make: (value: Value) => Made): (value: Value) => Made {
  let last: { readonly value: Value; readonly made: Made } | undefined
  return (value) => {
    if (value !== last?.value) last = { value, made: make(value) }
    return last.made
  }
}

/** Like `lastOf`, for the announced limits: polls leave the numbers as they were. */
function lastOfTokens<Made>(make: (headers: Headers) => Made): (spending: Spending | undefined) => Made {
  const none = make({})
  let key: BucketLimits | undefined
  let tenant: BucketLimits | undefined
  let last: BucketState | undefined
  let lastOf: Spending['tokensOf'] = 'key'
  let made = none
  return (spending) => {
    if (spending === undefined) return none
    const { limit, tokens, tokensOf } = spending
    const isSame =
      tokens.remaining === last?.remaining &&
      tokens.fullMs === last.fullMs &&
      tokensOf === lastOf &&
      limit.own.limits === key &&
      spending.tenant?.limits === tenant
    if (!isSame) {
      key = limit.own.limits
      tenant = spending.tenant?.limits
      last = tokens
      lastOf = tokensOf
      made = make(rateLimitHeaders({ key, tenant, tokensOf, tokens }))
    }
    return made
  }
}

let dateSecond = 0
let dateText = ''

/** The date in the form of RFC 9110 §5.6.7, formatted once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1_000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1_000).toUTCString()
  }
  return dateText
}
