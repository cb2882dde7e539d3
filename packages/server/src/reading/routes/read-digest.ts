/** `GET /v1/property-events/digest` and the same for contacts: describes what the feed shows now, to compare copies (PROTOCOL §14.3). */
import { feeds } from '@property-events/protocol'
import type { FeedName, ProblemError, ViewName } from '@property-events/protocol'
import { digestFeed, mostListed } from '../digest.ts'
import type { FeedDigest } from '../digest.ts'
import type { Head, EventStore } from '../../events/event-log.ts'
import { feedViewOf } from '../feed-view.ts'
import { refused } from '../../http/exchange.ts'
import { feedKeyOf } from '../../http/access.ts'
import type { Outcome } from '../../http/exchange.ts'
import { apiEventTypeSchema } from '../../http/openapi/parameters.ts'
import {
  answer,
  capital,
  feedHeaderSchemas,
  feedReadProblems,
  keyedHeaders,
} from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { readApiEventType } from './api-event-type.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readQuery } from '../../http/requests/query.ts'
import { jsonAnswer, jsonHeaders } from './answers.ts'
import { ownBody } from '../../http/answer-body.ts'
import type { Operation } from '../../http/operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { KeyLimits } from '../../http/rate-limit/key-limits.ts'
import type { RepresentationOf } from '../representation/representation.ts'

interface Context {
  readonly events: EventStore
  readonly formOf: RepresentationOf
  readonly keyLimits: KeyLimits
  readonly limits: ServiceLimits
}

const names = ['prefix', 'apiEventType'] as const

export function readDigest(context: Context, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { events, limits, keyLimits } = context
  return {
    method: 'GET',
    path: `${feed.publishPath}/digest`,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'own' },
    schema: () => ({
      operationId: `read${capital(feedName)}Digest`,
      summary: `Compare a copy of the ${feedName} feed`,
      description: `Counts and digests of what the feed shows the key now, by the beginning of the reference: two copies find what differs between them in a few requests. Up to ${mostListed.toLocaleString('en-GB')} are listed with their numbers. Counts as a snapshot while it is made.`,
      tags: ['Copying'],
      security: [{ apiKey: [] }],
      querystring: {
        type: 'object',
        properties: {
          prefix: {
            type: 'string',
            pattern: '^[0-9A-Fa-f]{0,32}$',
            default: '',
            description: 'Only references that begin with these hexadecimal digits; without hyphens.',
          },
          apiEventType: apiEventTypeSchema(feedName),
        },
      },
      response: {
        [success.ok]: answer('The digest.', refTo('FeedDigest'), { ...keyedHeaders, ...feedHeaderSchemas }),
        ...feedReadProblems(feedName, 'missing_scope', 'ambiguous_tenant', 'too_many_snapshots'),
      },
    }),

    prepare({ query }) {
      const { values, errors: found } = readQuery(query, {
        names,
        style: 'own',
        maxParameters: limits.maxParameters,
      })
      const errors = [...found]
      const prefix = readPrefix(values, errors)
      const view = readView(feedName, values, errors)
      if (errors.length > 0) return () => refused({ code: 'invalid_parameter', errors })
      return async (request, access) => {
        const release = keyLimits.enterSnapshot(access.keyId ?? '')
        if (release === undefined) return refused({ code: 'too_many_snapshots' })
        try {
          const key = feedKeyOf(access, feedName)
          // Read before the subjects: what comes meanwhile has a greater number.
          const head = await events.head(key)
          if (head === undefined) return refused({ code: 'key_disabled' })
          const hidesSome = feedName === 'contact' && access.contact?.roles !== undefined
          const narrow = hidesSome ? context.formOf(access, feedName)?.narrow : undefined
          const query = { key, view: feedViewOf(access, view), prefix, narrow }
          const digest = await digestFeed(events, query)
          return await digestAnswer(digest, head, preferredCoding(request.header('accept-encoding')))
        } finally {
          release()
        }
      }
    },
  }
}

function digestAnswer(
  { parts, subjects, ...whole }: FeedDigest,
  head: Head,
  coding: ReturnType<typeof preferredCoding>,
): Outcome | Promise<Outcome> {
  const { sequenceNumber, epoch } = head
  const body = JSON.stringify({
    ...whole,
    parts: parts ?? null,
    subjects: subjects ?? null,
    head: sequenceNumber,
    epoch,
  })
  const said = { headers: jsonHeaders, etag: undefined, feed: head, sent: undefined }
  return jsonAnswer(said, ownBody(Buffer.from(body)), coding)
}

function readPrefix(values: ReadonlyMap<string, string>, errors: ProblemError[]): string {
  const text = values.get('prefix') ?? ''
  if (/^[0-9A-Fa-f]{0,32}$/.test(text)) return text.toLowerCase()
  const message = `${quoteInput(text)} is not the beginning of a reference: 0 to 32 hexadecimal digits, without hyphens.`
  errors.push({ parameter: 'prefix', code: 'not_a_prefix', message })
  return ''
}

function readView(feed: FeedName, values: ReadonlyMap<string, string>, errors: ProblemError[]): ViewName {
  const type = values.get('apiEventType')
  const view = type === undefined ? 'all' : readApiEventType(feed, type)
  if (typeof view === 'string') return view
  errors.push(view)
  return 'all'
}
