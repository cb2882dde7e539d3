/** The categories of a feed, with their names in addresses and in the contract. */
import { standardCode, standardMeanings } from '@property-events/protocol/plain'
import type { FeedName } from '../../base.ts'

export const categories = ['sales', 'lettings'] as const
export type Category = (typeof categories)[number]

/** From an address; anything else is the whole feed. */
export function readCategory(text: string | undefined): Category | undefined {
  return categories.find((one) => one === text)
}

/** The contract's name of the view; `undefined`: all events. */
export function apiEventTypeOf(feed: FeedName, category: Category | undefined): string | undefined {
  return feed === 'property' && category !== undefined ? `${category}property` : undefined
}

/** The type that an address names; anything else means all types. */
export function readType(feed: FeedName, text: string | undefined): string | undefined {
  return shortCodesOf[feed].find((code) => code === text)
}

/** The short codes that every service has (PROTOCOL §5.2). */
export const shortCodesOf: Readonly<Record<FeedName, readonly string[]>> = {
  property: standardMeanings.map((meaning) => standardCode('property', meaning)),
  contact: standardMeanings.map((meaning) => standardCode('contact', meaning)),
}
