/** Responses of operations for the OpenAPI document: named by problem code, grouped by status. */
import type { FeedName } from '@property-events/protocol'
import { problems } from '../problem/problem.ts'
import type { ProblemCode } from '../problem/problem.ts'
import type { HeaderSchema, ResponseSchema } from './operation-schema.ts'
import { refTo } from './schemas.ts'

const everyRequest = [
  'invalid_parameter',
  'invalid_target',
  'invalid_host',
  'malformed_request',
  'not_acceptable',
  'request_timeout',
  'target_too_long',
  'expectation_failed',
  'headers_too_large',
  'internal_error',
  'unsupported_http_version',
] as const satisfies readonly ProblemCode[]

const everyKey = [
  'unauthorized',
  'key_expired',
  'key_revoked',
  'key_disabled',
  'key_network',
  'rate_limited',
  'too_many_at_once',
  'too_many_failures',
  'storage_damaged',
  'storage_unavailable',
] as const satisfies readonly ProblemCode[]

type Responses = Readonly<Record<string, ResponseSchema>>

/** Problems of an operation without a key, with further ones of its own. */
export function openProblems(...further: readonly ProblemCode[]): Responses {
  return responsesOf([...everyRequest, ...further])
}

/** Problems of an operation that needs a key, with further ones of its own. */
export function keyedProblems(...further: readonly ProblemCode[]): Responses {
  return responsesOf([...everyRequest, ...everyKey, ...further], rateHeaders)
}

/** Problems of a body, for every operation that takes one. */
export const bodyProblems = [
  'body_too_large',
  'unsupported_media_type',
  'unsupported_charset',
  'unsupported_content_encoding',
] as const satisfies readonly ProblemCode[]

/** Problems of every operation that changes what a feed holds, or what is kept about it. */
export const changeProblems = ['tenant_moving', 'maintenance'] as const satisfies readonly ProblemCode[]

/** Problems of every operation that reads one feed. */
export function feedProblems(feed: FeedName): readonly ProblemCode[] {
  // Keys can be limited to branches only for properties.
  const limited = feed === 'property' ? (['view_being_made'] as const) : []
  return ['overloaded', 'sequence_not_reached', ...limited]
}

/** The same with those of its key, and further ones of its own. */
export function feedReadProblems(feed: FeedName, ...further: readonly ProblemCode[]): Responses {
  return keyedProblems(...further, ...feedProblems(feed))
}

/** The same of the contract's operations, which ignore `Accept` (D9). */
export function contractProblems(feed: FeedName, ...further: readonly ProblemCode[]): Responses {
  const all = Object.entries(feedReadProblems(feed, 'key_scope', ...further))
  return Object.fromEntries(all.filter(([status]) => status !== String(problems.not_acceptable.status)))
}

const requestId = { type: 'string', description: 'Names this request in the log of the service.' }

const retryAfter = { 'retry-after': { type: 'integer', description: 'Seconds.' } }

type Headers = Readonly<Record<string, HeaderSchema>>

/** Further headers of a status, in addition to `x-request-id`. */
const headersOfStatus: Readonly<Record<number, Headers>> = {
  [problems.unauthorized.status]: {
    'www-authenticate': { type: 'string', description: 'Says that a key goes into x-api-key.' },
  },
  [problems.rate_limited.status]: retryAfter,
  [problems.overloaded.status]: retryAfter,
}

/** What is refused with these statuses is refused before its key is looked at. */
const refusedBeforeKey: ReadonlySet<number> = new Set(
  (
    [
      'request_timeout',
      'target_too_long',
      'expectation_failed',
      'headers_too_large',
      'unsupported_http_version',
    ] as const satisfies readonly ProblemCode[]
  ).map((code) => problems[code].status),
)

/** `further`: headers of answers to a key that the service knows. */
function responsesOf(codes: readonly ProblemCode[], further: Headers = {}): Responses {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = problems[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([left], [right]) => left - right)
      .map(([status, codes]) => [
        status,
        {
          description: codes.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
          headers: {
            'x-request-id': requestId,
            ...headersOfStatus[status],
            ...(refusedBeforeKey.has(status) ? {} : further),
          },
          content: { 'application/json': { schema: refTo('Problem') } },
        },
      ]),
  )
}

const rateHeaders = {
  ratelimit: {
    type: 'string',
    description:
      'Requests left on the node that answers, of the key or of the tenant, whichever has fewer, and seconds until all are there again: "key";r=499;t=1.',
  },
  'ratelimit-policy': {
    type: 'string',
    description:
      'Burst and the seconds it refills in, over all nodes, of the key and of all keys of the tenant together: "key";q=500;w=10, "tenant";q=2500;w=10.',
  },
} as const

/** Headers of every answer to a request with a key that the service knows. */
export const keyedHeaders = { 'x-request-id': requestId, ...rateHeaders } as const

/** Headers of an answer that says where the thing is that was made. */
export const madeHeaders = {
  ...keyedHeaders,
  location: { type: 'string', description: 'Where it is: a path of this service.' },
} as const

/** Headers of an answer that can be validated. */
export const taggedHeaders = {
  ...keyedHeaders,
  etag: { type: 'string', description: 'For If-None-Match. Weak (`W/`) where the answer is compressed.' },
} as const

/** The same, for operations that ignore unknown parameters (D19). */
export const lenientHeaders = {
  ...taggedHeaders,
  'x-ignored-parameters': {
    type: 'string',
    description: 'Names of query parameters that mean nothing here.',
  },
} as const

/** Headers of a document that is the same until the service is renewed. */
export const documentHeaders = {
  'x-request-id': requestId,
  'x-property-events-version': { type: 'string', description: 'Version of the program, such as 1.2.3.' },
  etag: taggedHeaders.etag,
} as const

/** What an operation answers when the caller's copy is still current. */
export function notModified(headers: Headers): ResponseSchema {
  return { description: 'What `If-None-Match` names is still current.', headers }
}

/** `property` → `Property`, for operation ids. */
export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

/** A successful response with one media type. */
export function answer(
  description: string,
  schema: object,
  headers: Headers,
  mediaType = 'application/json',
): ResponseSchema {
  return { description, headers, content: { [mediaType]: { schema } } }
}

/** The headers that describe the feed in answers from it (D20). */
export const feedHeaderSchemas = {
  'x-feed-head': { type: 'integer', description: "The feed's highest sequenceNumber." },
  'x-feed-epoch': {
    type: 'string',
    description: 'Changes when numbers continue after a gap, as after a restore.',
  },
  'x-feed-revision': { type: 'integer', description: 'Rises when stored payloads were erased.' },
} as const

/** Headers of such an answer to a request with a key. */
export const feedHeaders = { ...keyedHeaders, ...feedHeaderSchemas } as const
