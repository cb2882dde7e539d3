/**
 * The properties of a tenant from the newest change on: all, or those that contain a text. There is no index for this: the latest events
 * are read one after another, in steps between which others get their turn, and no longer than one call may take (PROTOCOL §12.5).
 */
import type { FoundProperty } from '@property-events/protocol/wire'
import { meaningOf } from '@property-events/protocol'
import type { FeedEvent } from '@property-events/protocol'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import type { EventStore, StoredEvent } from '../../events/event-log.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { objectOf } from '../representation/contact-redaction.ts'
import { freeEvents } from '../run.ts'

export interface PropertySearch {
  readonly key: FeedKey & { readonly feed: 'property' }
  /** In the form of `searchText`; `undefined`: every property. */
  readonly text: string | undefined
  /** Only latest events before this position; `undefined`: from the newest on. */
  readonly before: number | undefined
  /** The number of properties to find. */
  readonly limit: number
}

export interface SearchLimits {
  /** The number of properties that one call looks at. */
  readonly properties: number
  readonly ms: number
}

/** 20,000 latest events are some 80 MB to read; a person at a screen does not mind half a second. */
export const searchLimits: SearchLimits = { properties: 20_000, ms: 500 }

export interface FoundProperties {
  readonly found: readonly FoundProperty[]
  /** Continue before this position; `undefined`: there are no more. */
  readonly next: number | undefined
  /** How many properties were looked at. */
  readonly searched: number
}

/** A step has about this many bytes, which take a millisecond to read and another to search. */
const stepBytes = 2 ** 18
const mostOfStep = 100
/** Nothing is known about the first events, which may be half a megabyte each. */
const firstOfStep = 4

export async function findProperties(
  events: Pick<EventStore, 'readNewest'>,
  { key, text, before, limit }: PropertySearch,
  /** Milliseconds; never set back. */
  clock: () => number,
  limits: SearchLimits = searchLimits,
): Promise<FoundProperties> {
  const untilMs = clock() + limits.ms
  const found: FoundProperty[] = []
  let next = before
  let searched = 0
  let size = firstOfStep
  for (;;) {
    const asked = Math.min(size, limits.properties - searched)
    const step = await events.readNewest({ key, view: 'all', before: next, limit: asked })
    const longest = step.reduce((most, { json }) => Math.max(most, json.byteLength), 1)
    for (const event of step) {
      searched += 1
      next = event.position
      const property = propertyOf(event)
      if (text === undefined || property.texts.some((one) => one.includes(text))) found.push(property.shown)
      if (found.length === limit) break
    }
    freeEvents(step)
    const isLast = step.length < asked && step.at(-1)?.position === next
    if (isLast || step.length === 0) return { found, next: undefined, searched }
    if (found.length === limit || searched >= limits.properties || clock() >= untilMs) {
      return { found, next, searched }
    }
    size = Math.max(1, Math.min(mostOfStep, Math.floor(stepBytes / longest)))
    await yieldForStep()
  }
}

/** One property by its reference; `undefined`: the tenant has no event of it. */
export async function findProperty(
  events: Pick<EventStore, 'readLatest'>,
  key: FeedKey,
  agentRef: string,
): Promise<FoundProperty | undefined> {
  const event = await events.readLatest(key, agentRef)
  return event && propertyOf(event).shown
}

/**
 * Without regard to case, accents, blanks and punctuation: `cb7 4aa` and `CB74AA` are equal, `ty gwyn` and `Tŷ Gwyn`. Empty if nothing
 * else was given.
 */
export function searchText(text: string): string {
  return withoutAccents(text).replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

/** In lower case, and with one form for the many in which a letter can be written. */
export function withoutAccents(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
}

interface ReadProperty {
  readonly shown: FoundProperty
  /** The texts that a search compares, in the form of `searchText`. */
  readonly texts: readonly string[]
}

const addressLines = ['house_name_number', 'address_2', 'address_3', 'address_4', 'town'] as const

function propertyOf({ json }: StoredEvent): ReadProperty {
  const { payload: text, ...event }: FeedEvent = JSON.parse(Buffer.from(json).toString('utf8'))
  const payload = objectOf(JSON.parse(text))
  const address = objectOf(payload['address'])
  const lines = addressLines.flatMap((name) => wordOf(address[name]) ?? []).join(', ')
  const display = wordOf(address['display_address'])
  const parts = [wordOf(address['postcode_1']), wordOf(address['postcode_2'])]
  const postcode = parts.filter((part) => part !== null).join(' ')
  const reference = wordOf(payload['reference'])
  const serviceReference = wordOf(payload['service_reference'])
  const { id: eventId, sequenceNumber, eventTypeShortCode, createdDate, transactionId } = event
  return {
    shown: {
      agentRef: wordOf(payload['agent_ref']) ?? transactionId,
      live: meaningOf('property', eventTypeShortCode) !== 'gone',
      address: display ?? (lines === '' ? null : lines),
      postcode: postcode === '' ? null : postcode,
      reference,
      serviceReference,
      eventId,
      sequenceNumber,
      eventTypeShortCode,
      createdDate,
    },
    texts: [
      `${lines} ${postcode}`,
      `${display ?? ''} ${postcode}`,
      reference ?? '',
      serviceReference ?? '',
    ].map(searchText),
  }
}

/** A text or a number; `null`: there is neither. */
function wordOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : null
}
