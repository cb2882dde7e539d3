/** What a row of the list shows about an event. */
import { headline } from '@property-events/client/headline'
import { meaningOf } from '@property-events/protocol/plain'
import type { FeedName } from '../../base.ts'
import type { FeedEvent } from '@property-events/protocol/wire'
import { oneLine, typeName } from '../../words/plain.ts'

interface FeedRow {
  readonly number: number
  readonly createdDate: string
  readonly type: string
  readonly shortCode: string
  readonly eventType: number
  /** The address of a property, or the reference of a contact, because lists do not show names. */
  readonly what: string
  /** `£435,000`, or empty. */
  readonly price: string
  readonly isRemoval: boolean
}

/** Each payload is parsed once while its event is held. */
const known = new WeakMap<FeedEvent, FeedRow>()

export function feedRow(feed: FeedName, event: FeedEvent): FeedRow {
  const before = known.get(event)
  if (before !== undefined) return before
  const { sequenceNumber, createdDate, eventTypeShortCode, eventType } = event
  const row = {
    number: sequenceNumber,
    createdDate,
    type: typeName(eventTypeShortCode),
    shortCode: eventTypeShortCode,
    eventType,
    isRemoval: meaningOf(feed, eventTypeShortCode) === 'gone',
    ...(feed === 'property' ? propertyCells(event.payload) : { what: subjectOf(event.payload), price: '' }),
  }
  known.set(event, row)
  return row
}

function propertyCells(payload: string): Pick<FeedRow, 'what' | 'price'> {
  const shown = headline(payload)
  if (shown === undefined) return { what: 'The payload cannot be read', price: '' }
  const { address, price } = shown
  const parts = [address.display, address.postcode].filter((part) => part !== null)
  const name = [...new Set(parts)].join(', ')
  return { what: oneLine(name === '' ? withoutAddress(payload) : name), price: oneLine(price.text ?? '', 40) }
}

/** What remains of an event after an erasure or retention says so (PROTOCOL §5.7). */
function withoutAddress(payload: string): string {
  const value: unknown = JSON.parse(payload)
  if (typeof value === 'object' && value !== null && 'erased' in value) return 'erased'
  if (typeof value === 'object' && value !== null && 'thinned' in value) return 'thinned by retention'
  return subjectOf(payload)
}

/** The reference of the property or contact, in lower case; empty if the payload has none. */
export function subjectOf(payload: string): string {
  return /"(?:agent_ref|contact_ref)"\s*:\s*"([\da-fA-F-]{36})"/.exec(payload)?.[1]?.toLowerCase() ?? ''
}
