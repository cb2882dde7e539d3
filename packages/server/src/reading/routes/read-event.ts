/** One event by its id, from its sealed segment if there is one, otherwise from the store. */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { represent } from '../representation/representation.ts'
import type { Representation } from '../representation/representation.ts'
import { disclosedEvents, disclosedRange } from '../../privacy/disclosure/disclosure.ts'
import type { Delivered } from '../../consumers/read-ranges.ts'
import type { Disclosure } from '../../privacy/disclosure/disclosure.ts'
import { deliveredEvents, deliveredPosition } from '../../consumers/delivered.ts'
import type { PageBody } from '../../http/answer-body.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Located, EventStore } from '../../events/event-log.ts'
import { mapMaybePromise } from '../../runtime/map-maybe-promise.ts'
import { refused } from '../../http/exchange.ts'
import type { Headers, Outcome, Refused, Request } from '../../http/exchange.ts'
import { preferredCoding } from '../../http/requests/accept.ts'
import { eventTag } from '../page-tag.ts'
import { eventAnswer } from './answers.ts'
import { ownBody } from '../../http/answer-body.ts'
import type { EventPositionCache } from '../event-position-cache.ts'
import type { PageReader } from '../page-cache/index.ts'
import type { PageRangeCache } from '../page-range-cache.ts'

/** What reading one event needs. */
export interface EventContext {
  readonly events: EventStore
  readonly pages: PageReader
  readonly positions: EventPositionCache
  readonly ranges: PageRangeCache
}

/** Which event, and how its reader sees it. */
export interface EventAsked {
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
  asked: EventAsked,
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
  { key, eventId, form, branches }: EventAsked,
): Promise<ReadEvent | undefined> {
  const event = await events.readEvent(key, eventId, branches)
  const delivered = event && deliveredEvents(key, [event], 'event')
  const sent = event && disclosedEvents(key, [event])
  return event && delivered && { body: ownBody(represent(event.json, form)), sent, delivered }
}

/** Only from the feed's present epoch and revision: a segment made before an erasure must not be read (D17). */
function readSealed(
  { events, pages, positions }: EventContext,
  { key, eventId, form, branches }: EventAsked,
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
