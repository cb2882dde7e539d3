/** Writes the answer of a direct read, with the headers the router's routes give, and reports it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ContentCoding, PageBody } from '../../pages/index.ts'
import type { FeedKey, Head } from '../../storage/storage.ts'
import type { HttpContext } from '../context.ts'
import { feedHeaders } from '../feed-headers.ts'
import { cacheHeaders } from '../page-response.ts'
import { success } from '../problem.ts'
import { rateLimitHeaders } from '../rate-limit.ts'
import { reportDone } from '../report-request.ts'
import { commonHeaders, requestIdOf } from '../request-facts.ts'
import { writeBody } from '../send-event-bytes.ts'
import type { DirectAccess } from './access.ts'

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

/** `undefined`: the router answers. At once wherever nothing has to be waited for, as in most polls and pages. */
export type DirectReading = DirectAnswer | undefined | Promise<DirectAnswer | undefined>

/** What is asked, apart from which page or event. */
export interface DirectQuestion {
  readonly key: FeedKey
  /** What the client takes. */
  readonly coding: ContentCoding
  readonly ifNoneMatch: string | undefined
}

export interface DirectExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The route's pattern, for the metrics. */
  readonly route: string
  readonly startedMs: number
  readonly access: DirectAccess
}

export function answerDirectly(context: HttpContext, exchange: DirectExchange, answer: DirectAnswer): void {
  const { request, response, route, startedMs, access } = exchange
  const { keyId, tenantId } = access
  let { tokens } = access
  if (answer.kind === 'notModified') {
    // It costs no token (D10).
    context.requestBuckets.refund(keyId)
    tokens = context.requestBuckets.peek(keyId)
  }
  const requestId = requestIdOf(request)
  const headers = {
    ...commonHeaders(requestId),
    ...rateLimitHeaders(context.limits.requests, tokens),
    ...cacheHeaders,
    etag: answer.etag,
    ...(answer.head === undefined ? {} : feedHeaders(answer.head)),
  }
  const done = (): void => {
    if (answer.kind === 'body') answer.body.release()
    reportDone(context, {
      requestId,
      method: 'GET',
      target: request.url ?? '',
      route,
      status: response.statusCode,
      startedMs,
      aborted: !response.writableFinished,
      facts: { keyId, tenantId },
    })
  }
  if (response.destroyed) {
    // The client went away while the page was read: no close will be told any more.
    done()
    return
  }
  response.on('close', done)
  if (answer.kind === 'body') writeBody(response, headers, answer.body, answer.coding, true)
  else response.writeHead(success.notModified, headers).end()
}
