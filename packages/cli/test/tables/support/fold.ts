/**
 * What the tables must hold, worked out from the events alone and written for the tests: nothing here is the program's. The
 * fold goes through the batches that were committed, because the history of a price is what the copy has seen of it.
 */
import type { FeedEvent } from '@property-events/client'

/** What was committed: how far the copy is. From the checkpoint. */
export interface Place {
  readonly kind: 'start' | 'snapshot' | 'numbers'
  readonly epoch: string
  readonly after: number
  readonly head: number
  /** The batch took away what the feed has not. */
  readonly swept: boolean
}

export interface FoldedListing {
  readonly reference: string
  readonly sequence_number: number
  readonly category: string
  readonly status: string
  readonly price: number | null
  readonly price_text: string | null
  readonly bedrooms: number
  readonly display_address: string
  readonly main_photograph: string | null
  readonly photograph_count: number
  readonly published_at: string
  readonly first_price: number | null
  readonly last_price: number | null
  readonly previous_price: number | null
  readonly price_changed_at: string | null
  readonly first_seen_at: string
}

export interface Folded {
  readonly listings: Map<string, FoldedListing>
  /** The addresses of photographs, in order. */
  readonly media: Map<string, readonly string[]>
  readonly removed: Map<string, string>
}

/** The part of a payload that the test publishes. */
export interface Payload {
  readonly agent_ref: string
  readonly published: boolean
  readonly status: 1 | 2
  readonly price_information: {
    readonly price: number
    readonly price_qualifier?: 1
    readonly rent_frequency?: 12
  }
  readonly address: { readonly display_address: string }
  readonly details: { readonly bedrooms: number; readonly description: string }
  readonly media: readonly {
    readonly media_type: 1
    readonly media_url: string
    readonly sort_order: number
  }[]
}

/** `events`: all of the feed, by rising number. */
export function foldOf(events: readonly FeedEvent[], places: readonly Place[]): Folded {
  const folded: Folded = { listings: new Map(), media: new Map(), removed: new Map() }
  let before: Place = { kind: 'start', epoch: '', after: 0, head: 0, swept: false }
  for (const place of places) {
    for (const event of batchOf(events, before, place)) apply(folded, event)
    if (place.swept) sweep(folded, new Set(events.map(subjectOf)))
    before = place
  }
  return folded
}

function batchOf(events: readonly FeedEvent[], before: Place, place: Place): readonly FeedEvent[] {
  if (place.kind === 'start') return []
  const isSameFeed = before.kind !== 'start' && before.epoch === place.epoch
  if (place.kind === 'numbers' && before.kind === 'numbers' && isSameFeed) {
    return latestOf(events.filter(({ sequenceNumber: n }) => n > before.after && n <= place.after))
  }
  // A read of the whole feed. Its batches may come again after a stop, which changes nothing.
  const head =
    before.kind === 'snapshot' && isSameFeed
      ? before.head
      : place.kind === 'snapshot'
        ? place.head
        : place.after
  const ofSnapshot = latestOf(events.filter(({ sequenceNumber: n }) => n <= head))
  const upTo = place.kind === 'snapshot' ? place.after : head
  const from = before.kind === 'snapshot' && isSameFeed && before.after < place.after ? before.after : 0
  const read = ofSnapshot.filter(({ sequenceNumber: n }) => n > from && n <= upTo)
  const later =
    place.kind === 'numbers' ? events.filter(({ sequenceNumber: n }) => n > head && n <= place.after) : []
  return latestOf([...read, ...later])
}

function latestOf(events: readonly FeedEvent[]): readonly FeedEvent[] {
  return [...new Map(events.map((event) => [subjectOf(event), event])).values()]
}

function subjectOf({ payload }: FeedEvent): string {
  return (JSON.parse(payload) as Payload).agent_ref
}

function sweep({ listings, media, removed }: Folded, inFeed: ReadonlySet<string>): void {
  for (const reference of [...listings.keys()].filter((one) => !inFeed.has(one))) {
    listings.delete(reference)
    media.delete(reference)
    removed.set(reference, 'swept')
  }
}

function apply({ listings, media, removed }: Folded, event: FeedEvent): void {
  const payload = JSON.parse(event.payload) as Payload
  const { agent_ref: reference } = payload
  const publishedAt = `${event.createdDate.slice(0, 23)}Z`
  if (!payload.published) {
    listings.delete(reference)
    media.delete(reference)
    removed.set(reference, publishedAt)
    return
  }
  const photographs = payload.media.toSorted((one, other) => one.sort_order - other.sort_order)
  listings.set(reference, listingOf(payload, event.sequenceNumber, publishedAt, listings.get(reference)))
  media.set(
    reference,
    photographs.map(({ media_url: url }) => url),
  )
  removed.delete(reference)
}

function listingOf(
  payload: Payload,
  sequenceNumber: number,
  publishedAt: string,
  old: FoldedListing | undefined,
): FoldedListing {
  const { price_information: given } = payload
  const isLetting = given.rent_frequency !== undefined
  const price = given.price_qualifier === 1 ? null : given.price
  const category = isLetting ? 'lettings' : 'sales'
  const first = [...payload.media].sort((one, other) => one.sort_order - other.sort_order)[0]
  const pounds = `£${given.price.toLocaleString('en-GB')}${isLetting ? ' pcm' : ''}`
  return {
    reference: payload.agent_ref,
    sequence_number: sequenceNumber,
    category,
    status: payload.status === 1 ? 'Available' : 'SSTC',
    price,
    price_text: price === null ? 'POA' : pounds,
    bedrooms: payload.details.bedrooms,
    display_address: payload.address.display_address,
    main_photograph: first?.media_url ?? null,
    photograph_count: payload.media.length,
    published_at: publishedAt,
    first_seen_at: old?.first_seen_at ?? publishedAt,
    ...historyOf(price, publishedAt, old?.category === category ? old : undefined),
  }
}

function historyOf(price: number | null, publishedAt: string, old: FoldedListing | undefined) {
  const hasChanged =
    price !== null && old !== undefined && old.last_price !== null && old.last_price !== price
  return {
    first_price: old?.first_price ?? price,
    last_price: price ?? old?.last_price ?? null,
    previous_price: hasChanged ? old.last_price : (old?.previous_price ?? null),
    price_changed_at: hasChanged ? publishedAt : (old?.price_changed_at ?? null),
  }
}
