/** One event, out of its sealed segment where there is one, and from the store otherwise. */
import type { PageBody } from '../../pages/index.ts'
import type { FeedKey, Located } from '../../storage/storage.ts'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { eventTag, tagMatches } from '../entity-tag.ts'
import { encodeEvent, eventBody } from '../send-event-bytes.ts'
import type { DirectAnswer, DirectQuestion, DirectReading } from './answer.ts'

type Context = Pick<HttpContext, 'events' | 'pages' | 'positions' | 'ranges'>

/** `undefined`: no such event. At once where its bytes lie in a sealed segment and are sent as they are. */
export function readEventDirectly(
  context: Context,
  question: DirectQuestion,
  eventId: string,
): DirectReading {
  const { key, coding } = question
  const { ranges } = context
  return whenThere(ranges.known({ key, view: 'all' }) ?? ranges.locate({ key, view: 'all' }), (located) => {
    if (located === undefined) return undefined
    const etag = eventTag(eventId, located.head, coding)
    return whenThere(readSealed(context, key, located, eventId), (sealed) =>
      whenThere(
        sealed ?? readStored(context, key, eventId),
        (event) => event && answerWith(event, question, etag),
      ),
    )
  })
}

function answerWith(
  event: PageBody,
  { coding, ifNoneMatch }: DirectQuestion,
  etag: string,
): DirectAnswer | Promise<DirectAnswer> {
  if (tagMatches(ifNoneMatch, etag)) {
    event.release()
    return { kind: 'notModified', etag, head: undefined }
  }
  return whenThere(encodeEvent(event, coding), (encoded) => ({
    kind: 'body',
    etag,
    head: undefined,
    ...encoded,
  }))
}

async function readStored({ events }: Context, key: FeedKey, eventId: string): Promise<PageBody | undefined> {
  const event = await events.readEvent(key, eventId)
  return event && eventBody(event.json)
}

/** Of the feed's present epoch and revision: a segment made before an erasure is not to be read (D17). */
function readSealed(
  { events, pages, positions }: Context,
  key: FeedKey,
  { head, range }: Located,
  eventId: string,
): PageBody | undefined | Promise<PageBody | undefined> {
  const known = positions.get(key, eventId)
  return whenThere(known ?? events.positionOf(key, eventId), (position) => {
    if (position === undefined || position > range.count) return undefined
    // Also where nothing is sealed yet: the newest events are asked for most, and the store need not be asked twice for each.
    if (known === undefined) positions.set(key, eventId, position)
    const sealed = pages.readSealedEvent(key, head, position)
    if (sealed === undefined || isEvent(sealed, eventId)) return sealed
    sealed.release()
    return undefined
  })
}

/** What stands behind the id in an event's bytes: `","createdDate":"2025-01-31T00:00:00.0000000"}`, and some room. */
const behindId = 64

/** An id may lead to an event with another id (decision 0003); its own stands near its end. */
function isEvent({ pieces }: PageBody, eventId: string): boolean {
  const [bytes] = pieces
  if (bytes === undefined) return false
  const from = Math.max(0, bytes.byteLength - 36 - behindId)
  const end = Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.byteLength - from)
  return end.toString('latin1').includes(`"id":"${eventId}","createdDate"`)
}
