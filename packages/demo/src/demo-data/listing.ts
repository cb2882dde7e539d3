/** What an agency shows of a home at one moment, and the ways it changes. Every change makes a new listing. */
import type { Home } from './home.ts'
import { writeListingText, writeNews } from './listing-text.ts'
import type { ListingSize, ListingText } from './listing-text.ts'
import { addPhotographs } from './media.ts'
import type { MediaItem } from './media.ts'
import type { Random } from './random.ts'

export const statuses = { available: 1, sstc: 2, underOffer: 4, letAgreed: 6 } as const
type Status = (typeof statuses)[keyof typeof statuses]

export interface LettingTerms {
  /** Payments a year: 12 or 52. */
  readonly rentFrequency: 12 | 52
  /** Pounds, to the penny. */
  readonly deposit: number
  readonly availableMs: number
  readonly furnishedType: number
  readonly depositReplacementScheme: boolean
  readonly student: boolean
}

export interface SaleTerms {
  readonly qualifier: number
  readonly leaseYears: number | null
  readonly groundRent: number | null
  readonly serviceCharge: number | null
}

type Terms =
  | { readonly category: 'sales'; readonly sale: SaleTerms }
  | { readonly category: 'lettings'; readonly letting: LettingTerms }

export interface Listing {
  readonly published: boolean
  readonly status: Status
  readonly statusText: string
  /** Pounds; of a letting, per payment. */
  readonly price: number
  readonly branchId: string
  readonly texts: ListingText
  readonly media: readonly MediaItem[]
  /** Some agencies' software forgets it. */
  readonly createdMs: number | null
  readonly updatedMs: number
  readonly terms: Terms
}

const statusTexts: Readonly<Record<Status, readonly string[]>> = {
  1: ['Available', 'For Sale', 'Available'],
  2: ['SSTC', 'Sold Subject To Contract'],
  4: ['Under Offer'],
  6: ['Let Agreed'],
}

/** A change of a listing at a moment, milliseconds since 1970. */
export type Edit = (listing: Listing, atMs: number) => Listing

export function newListing(
  random: Random,
  home: Home,
  size: ListingSize,
  price: number,
  terms: Terms,
  atMs: number,
): Listing {
  const photographs = random.integer(size.firstMedia[0], size.firstMedia[1])
  return {
    published: true,
    status: statuses.available,
    statusText: terms.category === 'lettings' ? 'Available' : random.pick(statusTexts[1]),
    price,
    branchId: home.place.branch,
    texts: writeListingText(random, home, size, terms.category),
    media: size.bare ? [] : addPhotographs(random, home, [], photographs, atMs),
    createdMs: random.chance(0.06) ? null : atMs,
    updatedMs: atMs,
    terms,
  }
}

export function setStatus(random: Random, status: Status): Edit {
  return (listing, atMs) => ({
    ...listing,
    status,
    statusText: listing.status === status ? listing.statusText : random.pick(statusTexts[status]),
    updatedMs: atMs,
  })
}

export function setPrice(price: number): Edit {
  return (listing, atMs) => ({ ...listing, price, updatedMs: atMs })
}

/** Adds photographs up to the size's limit, or replaces the first when there are enough. */
export function replacePhotographs(random: Random, home: Home, size: ListingSize): Edit {
  return (listing, atMs) => {
    const room = Math.min(random.integer(2, 5), size.mostMedia - listing.media.length)
    const kept = room > 0 ? listing.media : listing.media.slice(0, -1)
    return {
      ...listing,
      media: size.bare ? [] : addPhotographs(random, home, kept, Math.max(1, room), atMs),
      updatedMs: atMs,
    }
  }
}

/** Writes a new text, or adds a line of news before the old one. */
export function rewriteTexts(random: Random, home: Home, size: ListingSize): Edit {
  return (listing, atMs) => ({
    ...listing,
    texts:
      random.chance(0.3) || size.bare
        ? writeListingText(random, home, size, listing.terms.category)
        : writeNews(random, home, listing.texts),
    updatedMs: atMs,
  })
}

/** Another branch of the agency takes it over (D23). */
export function moveBranch(random: Random, home: Home): Edit {
  return (listing, atMs) => {
    const others = home.tenant.branches.filter(({ branchId }) => branchId !== listing.branchId)
    return { ...listing, branchId: random.pick(others).branchId, updatedMs: atMs }
  }
}

/** Takes the home off the market with a payload that says so, as some agencies do instead of a removal. */
export const unpublish: Edit = (listing, atMs) => ({ ...listing, published: false, updatedMs: atMs })
