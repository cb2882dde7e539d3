/** A publish request, as the route and the way past the router both take it: what its head asks, and what its body is answered. */
import type { IncomingHttpHeaders } from 'node:http'
import type { FeedKey } from '../storage/storage.ts'
import type { HttpContext } from './context.ts'
import type { ServiceLimits } from './limits.ts'
import { success } from './problem.ts'
import type { Refusal } from './problem.ts'
import { readPublishParameters } from './publish-parameters.ts'
import type { PublishParameters } from './publish-parameters.ts'
import { refusalOfPublish } from './publish-refusal.ts'
import { readBodyHeaders, refusalOfBytes } from './request-body.ts'
import type { BodyFormat } from './request-body.ts'
import { queryText } from './target.ts'

/** All that is asked for beside the events themselves. */
export interface PublishHead {
  readonly kind: 'head'
  readonly format: BodyFormat
  readonly parameters: PublishParameters
}

interface Refused {
  readonly kind: 'refused'
  readonly refusal: Refusal
}

/** Decides about a request before a byte of its body is read. */
export function readPublishHead(
  target: string,
  headers: IncomingHttpHeaders,
  limits: Pick<ServiceLimits, 'maxBodyBytes' | 'maxParameters'>,
): PublishHead | Refused {
  const reading = readPublishParameters(queryText(target), limits.maxParameters)
  if (reading.kind === 'faults')
    return { kind: 'refused', refusal: { code: 'invalid_parameter', errors: reading.errors } }
  const body = readBodyHeaders(headers, limits.maxBodyBytes)
  if (body.kind === 'refused') return body
  return { kind: 'head', format: body.format, parameters: reading.parameters }
}

export type PublishAnswer =
  | Refused
  | {
      readonly kind: 'receipt'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      /** JSON text. */
      readonly body: string
    }

const receiptHeaders = { 'content-type': 'application/json', 'cache-control': 'no-store' } as const

/** Publishes a body and says what to answer. Takes the body: its memory is gone afterwards. Rejects as the store does. */
export async function answerPublish(
  { metrics, publisher }: Pick<HttpContext, 'metrics' | 'publisher'>,
  key: FeedKey,
  { format, parameters }: PublishHead,
  body: Buffer,
): Promise<PublishAnswer> {
  const refusal = refusalOfBytes(body)
  if (refusal !== undefined) {
    metrics.published(key.feed, 'invalid')
    return { kind: 'refused', refusal }
  }
  const outcome = await publisher.publish({ key, body, format, ...parameters }).catch((error: unknown) => {
    metrics.published(key.feed, 'failed')
    throw error
  })
  metrics.published(key.feed, outcome.kind)
  if (outcome.kind !== 'receipt') {
    return { kind: 'refused', refusal: refusalOfPublish(outcome) }
  }
  return {
    kind: 'receipt',
    status: outcome.created ? success.created : success.ok,
    headers: receiptHeaders,
    body: JSON.stringify(outcome.receipt),
  }
}
