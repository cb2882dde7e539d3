/**
 * What the tables must hold, worked out from the events alone and written for the tests: nothing here is the program's. The
 * fold goes through the batches that were committed, because the history of a price is what the copy has seen of it.
 */

/** An event as the test reads it from the list. */
export interface FoldEvent {
  readonly number: number
  /** ISO, to the millisecond. */
  readonly publishedAt: string
  readonly payload: Payload
}

/** What was committed: how far the copy is. From the checkpoint. */
export interface Place {
  readonly kind: 'start' | 'snapshot' | 'numbers'
  readonly epoch: string
  readonly after: number
  readonly head: number
  /** The whole feed is being read, and what it has not will go at the end. */
  readonly sweeping: boolean
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

export interface Fold {
  readonly listings: Map<string, FoldedListing>
  /** The addresses of photographs, in order. */
  readonly media: Map<string, readonly string[]>
  /** When each went; `swept`: when the read of the whole feed found that. */
  readonly removed: Map<string, string>
  /** The last batch that was committed. */
  place: Place
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

export function newFold(place: Place): Fold {
  return { listings: new Map(), media: new Map(), removed: new Map(), place }
}

/**
 * One run: the batches that it committed, in order. `events`: all of the feed by rising number, as it was during the run. That
 * is why runs are folded one by one: a snapshot leaves out a subject that has a newer event when its line is due, so one that
 * is resumed leaves out more than it would have before its stop.
 */
export function foldRun(fold: Fold, events: readonly FoldEvent[], places: readonly Place[]): void {
  for (const place of places) {
    for (const event of batchOf(events, fold.place, place)) apply(fold, event)
    if (fold.place.sweeping && !place.sweeping && place.kind === 'numbers') {
      sweep(fold, new Set(events.map(({ payload }) => payload.agent_ref)))
    }
    fold.place = place
  }
}

/** The events of a batch, each its subject's latest; some may have been in an earlier batch, which changes nothing. */
function batchOf(events: readonly FoldEvent[], before: Place, place: Place): readonly FoldEvent[] {
  const isSameFeed = before.epoch === place.epoch
  const within = (from: number, upTo: number) => (event: FoldEvent) =>
    event.number > from && event.number <= upTo
  if (place.kind === 'numbers' && before.kind === 'numbers' && isSameFeed) {
    return latestOf(events.filter(within(before.after, place.after)))
  }
  // Of a read of the whole feed: a part of the snapshot, and what follows its head if its end is in the batch.
  const ofSnapshot = latestOf(events)
  if (place.kind === 'snapshot') {
    const isSameSnapshot = isSameFeed && before.kind === 'snapshot' && before.head === place.head
    const from = isSameSnapshot && before.after < place.after ? before.after : 0
    return ofSnapshot.filter(within(from, place.after))
  }
  if (before.kind !== 'snapshot' || !isSameFeed) return latestOf(events.filter(within(0, place.after)))
  const rest = ofSnapshot.filter(within(before.after, before.head))
  return latestOf([...rest, ...events.filter(within(before.head, place.after))])
}

function latestOf(events: readonly FoldEvent[]): readonly FoldEvent[] {
  return [...new Map(events.map((event) => [event.payload.agent_ref, event])).values()]
}

function sweep({ listings, media, removed }: Fold, inFeed: ReadonlySet<string>): void {
  for (const reference of [...listings.keys()].filter((one) => !inFeed.has(one))) {
    listings.delete(reference)
    media.delete(reference)
    removed.set(reference, 'swept')
  }
}

function apply({ listings, media, removed }: Fold, { number, publishedAt, payload }: FoldEvent): void {
  const { agent_ref: reference } = payload
  if (!payload.published) {
    listings.delete(reference)
    media.delete(reference)
    removed.set(reference, publishedAt)
    return
  }
  const photographs = payload.media.toSorted((one, other) => one.sort_order - other.sort_order)
  listings.set(reference, listingOf(payload, number, publishedAt, listings.get(reference)))
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
