import type { FeedName } from '@property-events/protocol'

/** How the tables identify a feed: 2 bytes in every key in place of a word. */
export const feedNumbers: Readonly<Record<FeedName, number>> = { property: 1, contact: 2 }
