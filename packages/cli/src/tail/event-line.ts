/** One event as a line for a person. */
import { listing } from '@property-events/client/listing'
import type { Listing } from '@property-events/client/listing'
import type { FeedEvent } from '@property-events/client'
import type { Style } from '../terminal-style.ts'
import { plainText } from '../terminal-text.ts'
import { listingChanges } from './listing-changes.ts'

/** What was known of a property before an event. */
export type Before =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none' }
  | { readonly kind: 'listing'; readonly listing: Listing }

/** As wide as a reference, which stands there where there is no address. */
const addressWidth = 36
/** `Offers in excess of £560,000`. */
const priceWidth = 28

/** The event's property; `undefined` for an event of another feed, and for one whose payload is gone. */
export function listingOf({ payload }: FeedEvent): Listing | undefined {
  return payload === '' ? undefined : listing(payload)
}

/** Number, time (UTC), type, address, price and what changed; of a contact the transaction, and nothing personal. */
export function eventLine(event: FeedEvent, before: Before, style: Style): string {
  const { sequenceNumber, createdDate, eventTypeShortCode: code, transactionId } = event
  const number = String(sequenceNumber).padStart(8)
  const time = plainText(createdDate.slice(0, 19).replace('T', ' '))
  const type = colourOf(code, style)(plainText(code).padEnd(19))
  const begin = [style.dim(number), time, type].join('  ')
  if (!code.startsWith('Property')) return `${begin}  ${plainText(transactionId)}`
  const now = listingOf(event)
  // What was erased or came without a payload is still somewhere.
  const shown = now ?? (before.kind === 'listing' ? before.listing : undefined)
  const address = fitted(shown?.address.display ?? transactionId, addressWidth)
  const price = fitted(shown?.price.text ?? '', priceWidth)
  return `${begin}  ${address}  ${price}  ${plainText(changeText(now, before))}`.trimEnd()
}

function changeText(now: Listing | undefined, before: Before): string {
  if (now === undefined) return 'payload erased'
  if (before.kind === 'unknown') return now.removalReason ?? ''
  if (before.kind === 'none') return 'new'
  const changes = [
    ...(now.published === false ? [now.removalReason ?? 'taken off'] : []),
    ...listingChanges(before.listing, now),
  ]
  if (before.listing.published === false && now.published === true) changes.unshift('back')
  return changes.length === 0 ? 'details' : changes.join(', ')
}

function colourOf(code: string, style: Style): (text: string) => string {
  if (code.endsWith('Published') || code.endsWith('Created')) return style.green
  if (code.endsWith('Unpublished') || code.endsWith('Erased')) return style.red
  return style.yellow
}

function fitted(text: string, width: number): string {
  const plain = plainText(text)
  return plain.length > width ? `${plain.slice(0, width - 1)}…` : plain.padEnd(width)
}
