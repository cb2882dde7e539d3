/** Writes the answer to what was published directly, with the headers the route gives, and reports it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpContext } from '../context.ts'
import { pathOnly } from '../echo-text.ts'
import { problemAnswer } from '../problem.ts'
import type { PublishAnswer } from '../publish-request.ts'
import { rateLimitHeaders } from '../rate-limit.ts'
import { reportDone } from '../report-request.ts'
import { commonHeaders } from '../request-facts.ts'
import type { DirectAccess } from './access.ts'
import type { TextAnswer } from './answer.ts'

export interface PublishExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The route's pattern, for the metrics. */
  readonly route: string
  readonly startedMs: number
  readonly access: DirectAccess
  readonly requestId: string
}

/** The same wherever it is sent from. */
export function textAnswer(
  { basePath }: Pick<HttpContext, 'basePath'>,
  target: string,
  requestId: string,
  answer: PublishAnswer,
): TextAnswer {
  if (answer.kind === 'receipt') {
    const { status, headers, body } = answer
    return { status, headers, body, problem: undefined }
  }
  const place = { instance: pathOnly(target), requestId, basePath }
  return { ...problemAnswer(answer.refusal, place), problem: answer.refusal.code }
}

export function sendDirectly(context: HttpContext, exchange: PublishExchange, answer: PublishAnswer): void {
  const { request, response, route, startedMs, access, requestId } = exchange
  const { keyId, tenantId, tokens } = access
  const target = request.url ?? ''
  const { status, headers, body, problem } = textAnswer(context, target, requestId, answer)
  const report = (): void => {
    reportDone(context, {
      requestId,
      method: 'POST',
      target,
      route,
      status,
      startedMs,
      aborted: !response.writableFinished,
      facts: { ...(problem && { problem }), keyId, tenantId },
    })
  }
  if (response.destroyed) {
    // The client went away meanwhile: no close will be told any more.
    report()
    return
  }
  response.on('close', report)
  response.writeHead(status, {
    ...commonHeaders(requestId),
    ...rateLimitHeaders(context.limits.requests, tokens),
    ...headers,
    'content-length': Buffer.byteLength(body),
  })
  // As text: Node then writes it together with the head, in one piece.
  response.end(body)
}
