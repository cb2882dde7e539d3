/** One event by its id, out of its sealed segment where there is one, and from the store otherwise. */
import { formed } from '../../feed/reader-form.ts'
import type { ReaderForm } from '../../feed/reader-form.ts'
import { sentEvents, sentRange } from '../../feed/sent.ts'
import type { Told } from '../../feed/noted-parts.ts'
import type { Sent } from '../../feed/sent.ts'
import { toldEvents, toldPosition } from '../../feed/told.ts'
import type { PageBody } from '../../pages/index.ts'
import type { FeedKey, Located } from '../../storage/storage.ts'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import type { Headers, Outcome, Request } from '../exchange.ts'
import { preferredCoding } from '../requests/accept.ts'
import { eventTag } from '../requests/entity-tag.ts'
import { eventAnswer, ownBody } from './answers.ts'

type Context = Pick<HttpContext, 'events' | 'pages' | 'positions' | 'ranges'>

/** Which event, and how its reader is to see it. */
export interface EventAsked {
  readonly key: FeedKey
  readonly eventId: string
  readonly form: ReaderForm | undefined
  /** `undefined`: of any, or of none. An event of another one is as unknown as none at all. */
  readonly branches: readonly string[] | undefined
}

/** At once where its bytes lie in a sealed segment and are sent as they are. `further`: headers beside the usual ones. */
export function readEvent(
  context: Context,
  request: Request,
  asked: EventAsked,
  further?: Headers,
): Outcome | Promise<Outcome> {
  const { ranges } = context
  const { key, eventId, form } = asked
  const coding = preferredCoding(request.header('accept-encoding'))
  // Before the event is read: its bytes are of this state of the feed or of a later one.
  return whenThere(ranges.known({ key, view: 'all' }) ?? ranges.locate({ key, view: 'all' }), (located) => {
    if (located === undefined) return notFound
    const etag = eventTag(eventId, located.head, coding, form)
    return whenThere(readSealed(context, asked, located), (sealed) =>
      // One look-up in the caller's own feed, so another tenant's event and none at all take the same path (D8).
      whenThere(sealed ?? readStored(context, asked), (event): Outcome | Promise<Outcome> =>
        event === undefined ? notFound : eventAnswer(request, event.body, etag, coding, event, further),
      ),
    )
  })
}

const notFound = refused({ code: 'event_not_found' })

interface ReadEvent {
  readonly body: PageBody
  readonly sent: Sent | undefined
  readonly told: Told
}

async function readStored(
  { events }: Context,
  { key, eventId, form, branches }: EventAsked,
): Promise<ReadEvent | undefined> {
  const event = await events.readEvent(key, eventId, branches)
  const told = event && toldEvents(key, [event], 'event')
  const sent = event && sentEvents(key, [event])
  return event && told && { body: ownBody(formed(event.json, form)), sent, told }
}

/** Of the feed's present epoch and revision: a segment made before an erasure is not to be read (D17). */
function readSealed(
  { events, pages, positions }: Context,
  { key, eventId, form, branches }: EventAsked,
  { head, range }: Located,
): ReadEvent | undefined | Promise<ReadEvent | undefined> {
  // A segment does not say whose its events are.
  if (branches !== undefined) return undefined
  const known = positions.get(key, eventId)
  return whenThere(known ?? events.positionOf(key, eventId), (position) => {
    if (position === undefined || position > range.count) return undefined
    // Also where nothing is sealed yet: the newest events are asked for most, and the store need not be asked twice for each.
    if (known === undefined) positions.set(key, eventId, position)
    const body = pages.readSealedEvent(key, head, position, form)
    if (body === undefined) return undefined
    const sent = sentRange({ key, view: 'all', first: position, count: 1 })
    if (isEvent(body, eventId)) return { body, sent, told: toldPosition(key, head.epoch, position) }
    body.release()
    return undefined
  })
}

/** What stands after the id in an event's bytes: `","createdDate":"2025-01-31T00:00:00.0000000"}`, and some room. */
const afterId = 64

/** An id may lead to an event with another id (decision 0003); its own stands near its end. */
function isEvent({ pieces }: PageBody, eventId: string): boolean {
  const [bytes] = pieces
  if (bytes === undefined) return false
  const from = Math.max(0, bytes.byteLength - 36 - afterId)
  const end = Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.byteLength - from)
  return end.toString('latin1').includes(`"id":"${eventId}","createdDate"`)
}
