/** What was known of a property before an event: from the events that went by, else from its history. */
import type { Client, FeedEvent } from '@property-events/client'
import { listing } from '@property-events/client/listing'
import type { Listing } from '@property-events/client/listing'
import { listingOf } from './event-line.ts'
import type { Before } from './event-line.ts'

/** Listings kept, some 10 kB each. */
const keptAtMost = 2_000
/** Versions of a property that are looked through: a page of its history. */
const versionsAtMost = 100

export interface EarlierListings {
  /** `asks`: whether the service is asked for the history of a property that has not gone by yet. */
  before(event: FeedEvent, options: { readonly asks: boolean }): Promise<Before>
  /** After its line was written. */
  note(event: FeedEvent): void
}

export function earlierListings(client: Pick<Client, 'history'>): EarlierListings {
  /** By `agent_ref`; the oldest are dropped first. */
  const kept = new Map<string, Listing>()
  return {
    async before(event, { asks }) {
      const now = listingOf(event)
      const reference = now?.reference ?? undefined
      if (reference === undefined) return { kind: 'unknown' }
      const known = kept.get(reference)
      if (known !== undefined) return { kind: 'listing', listing: known }
      return asks ? fromHistory(client, reference, event.sequenceNumber) : { kind: 'unknown' }
    },
    note(event) {
      const now = listingOf(event)
      if (now?.reference === undefined || now.reference === null) return
      kept.delete(now.reference)
      kept.set(now.reference, now)
      const [oldest] = kept.keys()
      if (kept.size > keptAtMost && oldest !== undefined) kept.delete(oldest)
    },
  }
}

async function fromHistory(
  client: Pick<Client, 'history'>,
  reference: string,
  before: number,
): Promise<Before> {
  let earlier: FeedEvent | undefined
  let versions = 0
  for await (const event of client.history(reference)) {
    versions += 1
    if (event.sequenceNumber >= before) break
    if (versions > versionsAtMost) return { kind: 'unknown' }
    earlier = event
  }
  if (earlier === undefined) return { kind: 'none' }
  const found = earlier.payload === '' ? undefined : listing(earlier.payload)
  return found === undefined ? { kind: 'unknown' } : { kind: 'listing', listing: found }
}
