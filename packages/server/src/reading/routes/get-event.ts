/** `GET …/geteventbyid/{eventId}`: one event (spec §4.2; D18 for contacts). */
import { feeds, parseUuid, uuidRemedy } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { feedKeyOf } from '../../http/access.ts'
import { refused } from '../../http/exchange.ts'
import type { Headers, Outcome, Refused, Request } from '../../http/exchange.ts'
import { exampleIds } from '@property-events/protocol/example-ids'
import { uuidSchema } from '../../http/openapi/parameters.ts'
import {
  answer,
  capital,
  contractProblems,
  lenientHeaders,
  notModified,
} from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import type { Refusal } from '../../http/problem/problem.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { ignoredParameters, readQuery } from '../../http/requests/query.ts'
import type { Operation, OperationSchema } from '../../http/operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import type { Representation, RepresentationOf } from '../representation/representation.ts'
import { represent } from '../representation/representation.ts'
import { disclosedEvents, disclosedRange } from '../../privacy/disclosure/disclosure.ts'
import type { Disclosure } from '../../privacy/disclosure/disclosure.ts'
import type { Delivered } from '../../consumers/read-ranges.ts'
import { deliveredEvents, deliveredPosition } from '../../consumers/delivered.ts'
import type { PageBody } from '../../http/answer-body.ts'
import { ownBody } from '../../http/answer-body.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { EventStore, Located } from '../../events/event-log.ts'
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { eventTag } from '../page-tag.ts'
import { eventAnswer } from './answers.ts'
import type { EventPositionCache } from '../event-position-cache.ts'
import type { PageReader } from '../page-cache/index.ts'
import type { PageRangeCache } from '../page-range-cache.ts'

/** What getting an event needs. */
export interface GetEventContext extends EventContext {
  readonly formOf: RepresentationOf
  readonly limits: ServiceLimits
}

export function getEvent(context: GetEventContext, feedName: FeedName): Operation {
  const feed = feeds[feedName]
  const { maxParameters } = context.limits
  return {
    method: 'GET',
    path: `${feed.eventsPath}/geteventbyid/:eventId`,
    mediaType: 'application/json',
    access: { scope: feed.readScope, refusal: 'spec' },
    schema: () => schemaFor(feedName),

    prepare({ query, params }) {
      const { ignored, errors } = readQuery(query, { names: [], style: 'spec', maxParameters })
      const headers = ignored.length === 0 ? undefined : ignoredParameters(ignored)
      const [given = ''] = params
      const eventId = parseUuid(given)
      if (errors.length === 0 && eventId !== undefined) {
        return (request, access) => {
          const form = context.formOf(access, feedName)
          const asked = { key: feedKeyOf(access, feedName), eventId, form, branches: access.branches }
          return readEvent(context, request, asked, headers)
        }
      }
      const refusal: Refusal =
        errors.length > 0
          ? { code: 'invalid_parameter', errors }
          : given === ''
            ? {
                code: 'path_not_found',
                detail: 'The path ends where the id of an event belongs: …/geteventbyid/{eventId}.',
              }
            : { code: 'invalid_parameter', errors: [notUuid(given)] }
      return () => refused({ ...refusal, ...(headers && { headers }) })
    },
  }
}

function notUuid(given: string) {
  const remedy = uuidRemedy(given, 'It is the "id" of an event in a list')
  const message = `${quoteInput(given)} is not a UUID: 8-4-4-4-12 hexadecimal digits, without braces or prefix. ${remedy}.`
  return { parameter: 'eventId', code: 'not_a_uuid', message }
}

function schemaFor(feedName: FeedName): OperationSchema {
  return {
    operationId: `get${capital(feedName)}Event`,
    summary: `Get one ${feedName} event`,
    description: `The event as in the list. An event of another tenant is answered as if it did not exist.`,
    tags: ['Reading'],
    security: [{ apiKey: [] }],
    params: {
      type: 'object',
      properties: { eventId: uuidSchema('The `id` of an event, in either case.', exampleIds.eventId) },
    },
    response: {
      [success.ok]: answer('The event.', refTo('FeedEvent'), lenientHeaders),
      [success.notModified]: notModified(lenientHeaders),
      ...contractProblems(feedName, 'event_not_found'),
    },
  }
}

/** What reading one event needs. */
interface EventContext {
  readonly events: EventStore
  readonly pages: PageReader
  readonly positions: EventPositionCache
  readonly ranges: PageRangeCache
}

/** Which event, and how its reader sees it. */
interface EventRequest {
  readonly key: FeedKey
  readonly eventId: string
  readonly form: Representation | undefined
  /** `undefined`: any branch or none. An event of another branch is as unknown as one that does not exist. */
  readonly branches: readonly string[] | undefined
}

/** Synchronous if the bytes are in a sealed segment and are sent unchanged. `further`: headers in addition to the usual ones. */
export function readEvent(
  context: EventContext,
  request: Request,
  asked: EventRequest,
  further?: Headers,
): Outcome | Promise<Outcome> {
  const { ranges } = context
  const { key, eventId, form } = asked
  const coding = preferredCoding(request.header('accept-encoding'))
  // Read before the event: its bytes belong to this state of the feed or to a later one.
  return mapMaybePromise(
    ranges.known({ key, view: 'all' }) ?? ranges.locate({ key, view: 'all' }),
    (located) => {
      if (located === undefined) return notFound[key.feed]
      const etag = eventTag(eventId, located.head, coding, form)
      return mapMaybePromise(readSealed(context, asked, located), (sealed) =>
        // One look-up in the caller's own feed, so another tenant's event and a missing one take the same path (D8).
        mapMaybePromise(sealed ?? readStored(context, asked), (event): Outcome | Promise<Outcome> =>
          event === undefined
            ? notFound[key.feed]
            : eventAnswer(request, event.body, etag, coding, event, further),
        ),
      )
    },
  )
}

const notFound = { property: unknownEvent('property'), contact: unknownEvent('contact') }

/** People send the reference of a property here. */
function unknownEvent(feed: FeedName): Refused {
  const { subjectField, subjectsPath } = feeds[feed]
  const detail = `This feed has no event with this id. If it is the ${subjectField} of a ${feed}, use GET ${subjectsPath}/{${subjectField}}.`
  return refused({ code: 'event_not_found', detail })
}

interface ReadEvent {
  readonly body: PageBody
  readonly sent: Disclosure | undefined
  readonly delivered: Delivered
}

async function readStored(
  { events }: EventContext,
  { key, eventId, form, branches }: EventRequest,
): Promise<ReadEvent | undefined> {
  const event = await events.readEvent(key, eventId, branches)
  const delivered = event && deliveredEvents(key, [event], 'event')
  const sent = event && disclosedEvents(key, [event])
  return event && delivered && { body: ownBody(represent(event.json, form)), sent, delivered }
}

/** Only from the feed's present epoch and revision: a segment made before an erasure must not be read (D17). */
function readSealed(
  { events, pages, positions }: EventContext,
  { key, eventId, form, branches }: EventRequest,
  { head, range }: Located,
): ReadEvent | undefined | Promise<ReadEvent | undefined> {
  // A segment does not record the branches of its events.
  if (branches !== undefined) return undefined
  const known = positions.get(key, eventId)
  return mapMaybePromise(known ?? events.positionOf(key, eventId), (position) => {
    if (position === undefined || position > range.count) return undefined
    // Even if nothing is sealed yet: the newest events are requested most, and two reads of the store for each are not necessary.
    if (known === undefined) positions.set(key, eventId, position)
    const body = pages.readSealedEvent(key, head, position, form)
    if (body === undefined) return undefined
    const sent = disclosedRange({ key, view: 'all', first: position, count: 1 })
    if (isEvent(body, eventId)) return { body, sent, delivered: deliveredPosition(key, head.epoch, position) }
    body.release()
    return undefined
  })
}

/** What comes after the id in an event's bytes: `","createdDate":"2025-01-31T00:00:00.0000000"}`, and some room. */
const afterId = 64

/** An id may lead to an event with another id (decision 0003); the event's own id is near its end. */
function isEvent({ pieces }: PageBody, eventId: string): boolean {
  const [bytes] = pieces
  if (bytes === undefined) return false
  const from = Math.max(0, bytes.byteLength - 36 - afterId)
  const end = Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.byteLength - from)
  return end.toString('latin1').includes(`"id":"${eventId}","createdDate"`)
}
