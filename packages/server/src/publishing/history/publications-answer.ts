/** What was published, as two operations list it (PROTOCOL §14.2). */
import type { FeedName, ProblemError } from '@property-events/protocol'
import type { PublicationMinute, Publications } from '@property-events/protocol/wire'
import { firstKeptMinute } from './publication.ts'
import type { KeptMinute, PublicationStore } from './publication.ts'
import type { ParameterSchema } from '../../http/openapi/operation-schema.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { readTimeWithin, timeSchema } from '../../http/requests/time-parameter.ts'
import type { TimeParameter } from '../../http/requests/time-parameter.ts'

export const publicationSchemas = {
  from: timeSchema('The first minute, in the forms of `from` of a list. By default 14 days ago.'),
  to: timeSchema('The last minute, in the forms of `to` of a list. By default now.'),
  after: {
    type: 'string',
    pattern: '^[0-9a-z]{1,8}-[pc]-[0-9A-Za-z]{1,40}$',
    description: 'The `next` of the previous answer, unchanged.',
  },
} as const satisfies Readonly<Record<string, ParameterSchema>>

const minuteMs = 60_000

/** Which publications a request asks for. `undefined`: all that are kept, up to now. */
interface AskedPublications {
  readonly fromMinute: number | undefined
  readonly toMinute: number | undefined
  readonly before: Place | undefined
}

interface Place {
  readonly minute: number
  readonly feed: FeedName
  readonly keyId: string
}

export function readPublicationParameters(
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): AskedPublications {
  return {
    fromMinute: readMinute('from', values, errors),
    toMinute: readMinute('to', values, errors),
    before: readPlace(values, errors),
  }
}

function readMinute(
  parameter: TimeParameter,
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): number | undefined {
  const ms = readTimeWithin(parameter, values, errors)
  return ms === undefined ? undefined : Math.floor(ms / minuteMs)
}

function readPlace(values: ReadonlyMap<string, string>, errors: ProblemError[]): Place | undefined {
  const text = values.get('after')
  if (text === undefined) return undefined
  const [, minute, feed, keyId] = /^([0-9a-z]{1,8})-([pc])-([0-9A-Za-z]{1,40})$/.exec(text) ?? []
  if (minute !== undefined && keyId !== undefined && Number.parseInt(minute, 36) <= 2 ** 31 - 1) {
    return { minute: Number.parseInt(minute, 36), feed: feed === 'p' ? 'property' : 'contact', keyId }
  }
  const message = `${quoteInput(text)} is not a place in a list; send the "next" of the previous answer, unchanged.`
  errors.push({ parameter: 'after', code: 'not_a_place', message })
  return undefined
}

/** `keyId`: only those of this key. */
export async function publicationsAnswer(
  store: PublicationStore,
  tenantId: string,
  keyId: string | undefined,
  { fromMinute = 0, toMinute = Infinity, before: place }: AskedPublications,
  limit: number,
): Promise<Publications> {
  const before = place && { key: { tenantId, feed: place.feed }, keyId: place.keyId, minute: place.minute }
  const nowMs = Date.now()
  const lastMinute = Math.floor(nowMs / minuteMs)
  const found = await store.list({
    tenantId,
    keyId,
    // A time in the year 9999 has more minutes than a column of PostgreSQL holds.
    fromMinute: Math.min(Math.max(firstKeptMinute(nowMs), fromMinute), lastMinute + 1),
    toMinute: Math.min(lastMinute, toMinute),
    before,
    limit: limit + 1,
  })
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return { items: items.map(minuteMembers), next: last === undefined ? null : placeText(last) }
}

function placeText({ minute, key, keyId }: KeptMinute): string {
  return `${minute.toString(36)}-${key.feed === 'property' ? 'p' : 'c'}-${keyId}`
}

function minuteMembers(kept: KeptMinute): PublicationMinute {
  const { minute, key, keyId, requests, stored, repeated, unchanged, numbers, refused } = kept
  const [firstNumber = null, lastNumber = null] = numbers ?? []
  return {
    at: new Date(minute * minuteMs).toISOString(),
    feed: key.feed,
    keyId,
    requests,
    stored,
    repeated,
    unchanged,
    firstNumber,
    lastNumber,
    warnings: kept.warnings,
    warningPlaces: kept.warningPlaces,
    refused,
    refusals: kept.refusals.map(({ atMs, requestId, code, faults }) => {
      return { at: new Date(atMs).toISOString(), requestId, code, faults }
    }),
  }
}
