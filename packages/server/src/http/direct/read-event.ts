/** One event, out of its sealed segment where there is one, and from the store otherwise. */
import type { PageBody } from '../../pages/index.ts'
import type { FeedKey } from '../../storage/storage.ts'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { eventTag, tagMatches } from '../entity-tag.ts'
import { encodeEvent, eventBody } from '../send-event-bytes.ts'
import type { DirectAnswer, DirectQuestion, DirectReading } from './answer.ts'

type Context = Pick<HttpContext, 'events' | 'pages' | 'positions' | 'ranges'>

const noBytes = new Uint8Array()

/** `undefined`: no such event. At once where its bytes lie in a sealed segment and are sent as they are. */
export function readEventDirectly(
  context: Context,
  question: DirectQuestion,
  eventId: string,
): DirectReading {
  const { key } = question
  return whenThere(readSealed(context, key, eventId), (sealed) =>
    whenThere(
      sealed ?? readStored(context, key, eventId),
      (event) => event && answerWith(event, question, eventId),
    ),
  )
}

function answerWith(
  event: PageBody,
  { coding, ifNoneMatch }: DirectQuestion,
  eventId: string,
): DirectAnswer | Promise<DirectAnswer> {
  const etag = eventTag(eventId, event.pieces[0] ?? noBytes, coding)
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

/** Only where the feed's epoch and revision are known: a segment made before an erasure is not to be read (D17). */
function readSealed(
  { events, pages, positions, ranges }: Context,
  key: FeedKey,
  eventId: string,
): PageBody | undefined | Promise<PageBody | undefined> {
  return whenThere(ranges.known(key, 'all') ?? ranges.locate({ key, view: 'all' }), (located) => {
    if (located === undefined) return undefined
    const known = positions.get(key, eventId)
    return whenThere(known ?? events.positionOf(key, eventId), (position) => {
      if (position === undefined || position > located.range.count) return undefined
      const sealed = pages.readSealedEvent(key, located.head, position)
      if (sealed === undefined) return undefined
      if (isEvent(sealed, eventId)) {
        if (known === undefined) positions.set(key, eventId, position)
        return sealed
      }
      sealed.release()
      return undefined
    })
  })
}

/** What stands behind the id in an event's bytes: `","createdDate":"2025-01-31T00:00:00.0000000"}`, and some room. */
const behindId = 64

/** An id may lead to an event with another id (decision 0003); its own stands near its end. */
function isEvent({ pieces }: PageBody, eventId: string): boolean {
  const [bytes] = pieces
  if (bytes === undefined) return false
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(-(36 + behindId))
  return end.toString('latin1').includes(`"id":"${eventId}","createdDate"`)
}
