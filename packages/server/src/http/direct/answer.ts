/** A direct answer and its head, with the headers of the router's routes, as Node would write them. */
import type { Socket } from 'node:net'
import type { ContentCoding, PageBody } from '../../pages/index.ts'
import type { FeedKey, Head } from '../../storage/storage.ts'
import type { HttpContext } from '../context.ts'
import { STATUS_CODES } from '../../node-http.ts'
import { feedHeaders } from '../feed-headers.ts'
import { cacheHeaders } from '../page-response.ts'
import { success } from '../problem.ts'
import type { ProblemCode } from '../problem.ts'
import { rateLimitHeaders } from '../rate-limit.ts'
import { commonHeaders } from '../request-facts.ts'
import { bodyHeaders } from '../send-event-bytes.ts'
import type { BucketState } from '../token-bucket.ts'
import type { DirectAccess } from './access.ts'

/** What was published, or what is wrong with it. */
export interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly problem: ProblemCode | undefined
}

export type DirectAnswer =
  | { readonly kind: 'notModified'; readonly etag: string; readonly head: Head | undefined }
  | {
      readonly kind: 'body'
      readonly etag: string
      /** Of the feed the page is from; single events do not say. */
      readonly head: Head | undefined
      readonly body: PageBody
      readonly coding: ContentCoding
    }
  | ({ readonly kind: 'text' } & TextAnswer)

/** `undefined`: the router answers. At once wherever nothing has to be waited for, as in most polls and pages. */
export type DirectReading = DirectAnswer | undefined | Promise<DirectAnswer | undefined>

/** A request that is answered here, unless there is no answer. */
export interface AnswerUnderWay {
  /** The pattern of the router's route, for the metrics. */
  readonly route: string
  readonly access: DirectAccess
  /** Without one the router has to be asked; the token was given back. */
  readonly answer: DirectReading
}

/** What is asked, apart from which page or event. */
export interface DirectQuestion {
  readonly key: FeedKey
  /** What the client takes. */
  readonly coding: ContentCoding
  readonly ifNoneMatch: string | undefined
}

export function statusOf(answer: DirectAnswer): number {
  if (answer.kind === 'text') return answer.status
  return answer.kind === 'body' ? success.ok : success.notModified
}

/** The tokens to announce: a 304 costs none (D10), and gives its own back here. */
export function settleTokens(
  { requestBuckets }: Pick<HttpContext, 'requestBuckets'>,
  { keyId, tokens }: DirectAccess,
  answer: DirectAnswer,
): BucketState {
  return answer.kind === 'notModified' ? requestBuckets.refund(keyId) : tokens
}

/** The whole head of an answer. `isLast`: the connection is closed behind it. */
export type WriteHead = (
  answer: DirectAnswer,
  requestId: string,
  tokens: BucketState,
  isLast: boolean,
) => string

/** Keeps the lines that were made last: of two answers in a row, few differ. */
export function answerHeads({ limits }: Pick<HttpContext, 'limits'>): WriteHead {
  const seconds = Math.floor(limits.keepAliveTimeoutMs / 1_000)
  const stays = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}, max=${limits.maxRequestsPerSocket}\r\n\r\n`
  const ends = 'Connection: close\r\n\r\n'
  const [beforeId = '', behindId = ''] = linesOf(commonHeaders(idPlace)).split(idPlace)
  const caching = linesOf(cacheHeaders)
  // What is known of a feed is one object until the feed changes, and polls leave the tokens as they were.
  let head: Head | undefined
  let feedLines = ''
  let remaining = -1
  let fullMs = -1
  let tokenLines = ''

  return (answer, requestId, tokens, isLast) => {
    if (tokens.remaining !== remaining || tokens.fullMs !== fullMs) {
      remaining = tokens.remaining
      fullMs = tokens.fullMs
      tokenLines = linesOf(rateLimitHeaders(limits.requests, tokens))
    }
    const last = `Date: ${httpDate()}\r\n${isLast ? ends : stays}`
    if (answer.kind === 'text') {
      const { status, headers, body } = answer
      return (
        `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${beforeId}${requestId}${behindId}${tokenLines}` +
        `${linesOf(headers)}content-length: ${Buffer.byteLength(body)}\r\n${last}`
      )
    }
    if (answer.head !== head) {
      head = answer.head
      feedLines = head === undefined ? '' : linesOf(feedHeaders(head))
    }
    const isBody = answer.kind === 'body'
    return (
      (isBody ? `HTTP/1.1 200 OK\r\n${linesOf(bodyHeaders(answer.body))}` : 'HTTP/1.1 304 Not Modified\r\n') +
      `${beforeId}${requestId}${behindId}${tokenLines}${caching}etag: ${answer.etag}\r\n${feedLines}` +
      (isBody && answer.coding !== 'identity' ? `content-encoding: ${answer.coding}\r\n` : '') +
      last
    )
  }
}

/** `head`: as `WriteHead` makes it. */
export function writeAnswer(socket: Socket, head: string, answer: DirectAnswer): void {
  if (answer.kind === 'notModified') socket.write(head, 'latin1')
  else if (answer.kind === 'text') socket.write(head + answer.body)
  else {
    // Corked, head and body leave in one writev.
    socket.cork()
    socket.write(head, 'latin1')
    for (const piece of answer.body.pieces) socket.write(piece)
    socket.uncork()
  }
}

/** Stands for a request's id, and in none. */
const idPlace = '{id}'

function linesOf(headers: Readonly<Record<string, string | number>>): string {
  let lines = ''
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`
  return lines
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
