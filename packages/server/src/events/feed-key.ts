import type { FeedName } from '@property-events/protocol'

/** One tenant's feed: the unit of ordering (P1). */
export interface FeedKey {
  /** Lower-case UUID. */
  readonly tenantId: string
  readonly feed: FeedName
}

/** The same text for the same feed, for use as a map's key. */
export function feedName({ tenantId, feed }: FeedKey): string {
  return `${tenantId} ${feed}`
}
