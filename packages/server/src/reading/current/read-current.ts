/** A page of current events, as of the moment of its walk (PROTOCOL §3.5). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { currentAtMost } from './current-pages.ts'
import { disclosedRange } from '../../privacy/disclosure/disclosure.ts'
import { deliveredPage, nothingDelivered } from '../../consumers/delivered.ts'
import { feedKeyOf } from '../../http/access.ts'
import { refused } from '../../http/exchange.ts'
import type { Headers, Outcome, Request } from '../../http/exchange.ts'
import { feedViewOf } from '../feed-view.ts'
import { minSequenceHeader } from '../min-sequence.ts'
import type { Refusal } from '../../http/problem/problem.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { tagMatches } from '../../http/requests/entity-tag.ts'
import { currentTag } from '../page-tag.ts'
import { windowFaults } from '../routes/list-parameters.ts'
import type { ListParameters } from '../routes/list-parameters.ts'
import { cacheHeaders, joined, jsonHeaders, pageAnswer } from '../routes/answers.ts'
import type { Call } from '../../http/operation.ts'
import type { CurrentPages } from './current-pages.ts'
import type { PageReader } from '../page-cache/index.ts'
import type { RepresentationOf } from '../representation/representation.ts'
import type { RequestObserver } from '../../http/observer.ts'

/** What reading current events needs. */
export interface CurrentContext {
  readonly currentPages: CurrentPages
  readonly formOf: RepresentationOf
  readonly metrics: RequestObserver
  readonly pages: PageReader
}

export const currentHeader = 'x-current-as-of'

/** For the OpenAPI document. */
export const currentHeaderSchema = {
  type: 'integer',
  description:
    'Of a list of current events: the `sequenceNumber` that it is as of. The same on all pages of a walk.',
} as const

/** `headers`: additional headers of its answers. */
export function currentCall(
  context: CurrentContext,
  feed: FeedName,
  parameters: ListParameters,
  headers: Headers,
): Call {
  const { currentPages, formOf, metrics } = context
  const faults = windowFaults(parameters)
  const windowed =
    faults.length === 0 ? undefined : refused({ code: 'invalid_parameter', errors: faults, headers })
  return async (request, access): Promise<Outcome> => {
    if (windowed !== undefined) return windowed
    const key = feedKeyOf(access, feed)
    const asked = { ...parameters, key, view: feedViewOf(access, parameters.view) }
    const least = leastOf(request)
    const found = await currentPages({ ...asked, keyId: access.keyId ?? '', least })
    if (found.kind !== 'page') return refused({ ...refusalOf(found.kind, feed), headers })
    const form = formOf(access, feed)
    const page = { ...found.page, range: { ...found.page.range, ...(form && { form }) } }
    const coding = preferredCoding(request.header('accept-encoding'))
    const etag = currentTag(asked, page, found.asOf, coding)
    const delivered = deliveredPage(page.range, page.head.epoch)
    const ownHeaders = { ...headers, [currentHeader]: String(found.asOf) }
    if (tagMatches(request.header('if-none-match'), etag))
      return {
        kind: 'notModified',
        headers: joined(cacheHeaders, ownHeaders),
        etag,
        feed: page.head,
        delivered: nothingDelivered(delivered),
      }
    const coded = page.range.count === 0 ? 'identity' : coding
    const body = await context.pages.read(page, coded)
    const of = {
      headers: joined(jsonHeaders, ownHeaders),
      etag,
      feed: page.head,
      coding: coded,
      sent: disclosedRange(page.range),
      delivered,
    }
    return pageAnswer(of, body, (bytes) => metrics.streamed(key.tenantId, bytes))
  }
}

/** Its form has been checked before (`waitForMinSequence`). */
function leastOf(request: Request): number {
  return Number(request.header(minSequenceHeader) ?? 0)
}

function refusalOf(kind: 'unknownFeed' | 'noMoment' | 'tooMany', feed: FeedName): Refusal {
  if (kind === 'unknownFeed') return { code: 'key_disabled' }
  if (kind === 'noMoment') return { code: 'moment_expired' }
  const message = `There are more than ${currentAtMost} current events, the most that a list of them may have. Read all events with current=false, or a snapshot (GET ${feeds[feed].publishPath}/snapshot).`
  return {
    code: 'invalid_parameter',
    errors: [{ parameter: 'current', code: 'too_many_current', message }],
  }
}
