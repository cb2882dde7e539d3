/** Events of some types only, for readers that requested these (PROTOCOL §13.4). Removals are always included. */
import { standardCodes } from '@property-events/protocol'
import type { FeedEvent, FeedName } from '@property-events/protocol'
import { BoundedMap } from '../bounded-map.ts'
import type { StoredEvent } from '../storage/storage.ts'

/** Whether a reader gets an event. */
export type TypeFilter = (event: Pick<StoredEvent, 'json'>) => boolean

/** Of the sets that are asked for, some dozens at most: what is made for readers of one filter is shared. */
const filters = new BoundedMap<string, TypeFilter>(500)

/**
 * Lets events with these short codes through, and whatever removes its subject: a copy that missed a removal would show for ever what is
 * gone. One object for the same codes.
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
  const { appeared, changed, gone } = standardCodes[feed]
  const passing = new Set([...codes, gone])
  const known = new Set([appeared, changed, gone])
  return ({ json }) => {
    const code = shortCodeOf(json)
    return passing.has(code) || (!known.has(code) && isRemoval(json))
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

/** An event has only an id and two numbers before it, so the first member of this name is the event's own. */
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
