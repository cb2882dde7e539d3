/** What was published, as two operations list it (PROTOCOL §14.2). */
import type { FeedName, ProblemError } from '@property-events/protocol'
import type { PublicationMinute, Publications } from '@property-events/protocol/wire'
import { firstKeptMinute } from './publication.ts'
import type { KeptMinute, PublicationStore } from './publication.ts'
import { listBy } from '../../http/listed.ts'
import { readTimeWithin, timeSchema } from '../../http/requests/time-parameter.ts'
import type { TimeParameter } from '../../http/requests/time-parameter.ts'

interface MinuteCursor {
  readonly minute: number
  readonly feed: FeedName
  readonly keyId: string
}

const minutes = listBy<MinuteCursor>({
  form: { pattern: '^[0-9a-z]{1,8}-[pc]-[0-9A-Za-z]{1,40}$' },
  parse(text) {
    const [, minute, feed, keyId] = /^([0-9a-z]{1,8})-([pc])-([0-9A-Za-z]{1,40})$/.exec(text) ?? []
    if (minute === undefined || keyId === undefined) return undefined
    const number = Number.parseInt(minute, 36)
    const isKept = number <= 2 ** 31 - 1
    return isKept ? { minute: number, feed: feed === 'p' ? 'property' : 'contact', keyId } : undefined
  },
  format: ({ minute, feed, keyId }) => `${minute.toString(36)}-${feed === 'property' ? 'p' : 'c'}-${keyId}`,
})

export const publicationSchemas = {
  limit: minutes.query.limit,
  from: timeSchema('The first minute, in the forms of `from` of a list. By default 14 days ago.'),
  to: timeSchema('The last minute, in the forms of `to` of a list. By default now.'),
  after: minutes.query.after,
} as const

const minuteMs = 60_000

/** Which publications a request asks for. `undefined`: all that are kept, up to now. */
interface PublicationsQuery {
  readonly fromMinute: number | undefined
  readonly toMinute: number | undefined
  readonly after: MinuteCursor | undefined
  readonly limit: number
}

export function readPublicationParameters(
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): PublicationsQuery {
  return {
    ...minutes.read(values, errors),
    fromMinute: readMinute('from', values, errors),
    toMinute: readMinute('to', values, errors),
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

/** `keyId`: only those of this key. */
export async function publicationsAnswer(
  store: PublicationStore,
  tenantId: string,
  keyId: string | undefined,
  { fromMinute = 0, toMinute = Infinity, after, limit }: PublicationsQuery,
): Promise<Publications> {
  const before = after && { key: { tenantId, feed: after.feed }, keyId: after.keyId, minute: after.minute }
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
  const { items, next } = minutes.page(found, limit, ({ minute, key, keyId: id }) => {
    return { minute, feed: key.feed, keyId: id }
  })
  return { items: items.map(minuteMembers), next }
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
