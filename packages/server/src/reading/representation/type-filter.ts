/** Events of some types only, for readers that requested these (PROTOCOL §13.4). Removals are always included. */
import { meaningOf, standardCode } from '@property-events/protocol'
import type { FeedEvent, FeedName } from '@property-events/protocol'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import type { StoredEvent } from '../../events/event-log.ts'

/** Whether a reader gets an event. */
export type TypeFilter = (event: Pick<StoredEvent, 'json'>) => boolean

/** Readers ask for some dozens of sets at most. What is made for one filter is shared by all its readers. */
const filters = new BoundedMap<string, TypeFilter>(500)

/**
 * Lets through events with these short codes, and every removal: a copy that missed a removal would for ever show a subject that is gone.
 * The same codes always give the same object.
 */
export function typeFilter(feed: FeedName, codes: readonly string[]): TypeFilter {
  const name = `${feed} ${[...new Set(codes)].sort().join()}`
  const known = filters.get(name)
  if (known !== undefined) return known
  const filter = newFilter(feed, codes)
  filters.set(name, filter)
  return filter
}

function newFilter(feed: FeedName, codes: readonly string[]): TypeFilter {
  const passing = new Set([...codes, standardCode(feed, 'gone')])
  return ({ json }) => {
    const code = shortCodeOf(json)
    return passing.has(code) || (meaningOf(feed, code) === 'unsaid' && isRemoval(json))
  }
}

/** The events that pass; all of them without a filter. */
export function ofTypes<Event extends Pick<StoredEvent, 'json'>>(
  events: readonly Event[],
  filter: TypeFilter | undefined,
): readonly Event[] {
  return filter === undefined ? events : events.filter(filter)
}

const codeMember = Buffer.from(',"eventTypeShortCode":"')
const quote = 0x22

/** Only an id and two numbers come before this member, so the first member of this name is the event's own. */
function shortCodeOf(json: Uint8Array): string {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  const start = text.indexOf(codeMember) + codeMember.length
  return text.toString('latin1', start, text.indexOf(quote, start))
}

/** For a code that only a catalogue has, the payload decides. It is parsed only for these: 30 µs for an event of 4.5 kB. */
function isRemoval(json: Uint8Array): boolean {
  const { payload }: FeedEvent = JSON.parse(Buffer.from(json).toString())
  const value: unknown = JSON.parse(payload)
  return typeof value === 'object' && value !== null && 'published' in value && value.published === false
}
