/** One event, out of its sealed segment where there is one: a request then takes 37 us, and 44 when the event is read from SQLite. */
import type { PageBody } from '../../pages/index.ts'
import type { HttpContext } from '../context.ts'
import { eventTag, tagMatches } from '../entity-tag.ts'
import { encodeEvent, eventBody } from '../send-event-bytes.ts'
import type { DirectAnswer, DirectQuestion } from './answer.ts'

type Context = Pick<HttpContext, 'events' | 'pages' | 'ranges'>

const noBytes = new Uint8Array()

/** `undefined`: no such event. */
export async function readEventDirectly(
  context: Context,
  { key, coding, ifNoneMatch }: DirectQuestion,
  eventId: string,
): Promise<DirectAnswer | undefined> {
  const event = (await readSealed(context, key, eventId)) ?? (await readStored(context, key, eventId))
  if (event === undefined) return undefined
  const etag = eventTag(eventId, event.pieces[0] ?? noBytes, coding)
  if (tagMatches(ifNoneMatch, etag)) {
    event.release()
    return { kind: 'notModified', etag, head: undefined }
  }
  return { kind: 'body', etag, head: undefined, ...(await encodeEvent(event, coding)) }
}

async function readStored(
  { events }: Context,
  key: DirectQuestion['key'],
  eventId: string,
): Promise<PageBody | undefined> {
  const event = await events.readEvent(key, eventId)
  return event && eventBody(event.json)
}

/** Only where the feed's epoch and revision are known: a segment made before an erasure is not to be read (D17). */
async function readSealed(
  { events, pages, ranges }: Context,
  key: DirectQuestion['key'],
  eventId: string,
): Promise<PageBody | undefined> {
  const known = ranges.known(key, 'all') ?? (await ranges.locate({ key, view: 'all' }))
  if (known === undefined) return undefined
  const position = await events.positionOf(key, eventId)
  if (position === undefined || position > known.range.count) return undefined
  const sealed = pages.readSealedEvent(key, known.head, position)
  if (sealed === undefined || isEvent(sealed, eventId)) return sealed
  sealed.release()
  return undefined
}

/** What stands behind the id in an event's bytes: `","createdDate":"2025-01-31T00:00:00.0000000Z"}`, and some room. */
const behindId = 64

/** An id may lead to an event with another id (decision 0003); its own stands near its end. */
function isEvent({ pieces }: PageBody, eventId: string): boolean {
  const [bytes] = pieces
  if (bytes === undefined) return false
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(-(36 + behindId))
  return end.toString('latin1').includes(`"id":"${eventId}","createdDate"`)
}
