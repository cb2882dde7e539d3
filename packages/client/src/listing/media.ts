/** Photographs, floor plans and the other media, in display order. */
import type { PropertyMedia } from '../payload/property.ts'
import { named } from './named.ts'
import type { Named } from './named.ts'

export interface ListingMedium {
  readonly url: string
  /** Empty if there is none. */
  readonly caption: string
  readonly type: Named | null
  /** `YYYY-MM-DDTHH:mm:ss`, Europe/London: if it changes, the file at the address has changed. */
  readonly updatedOn: string | null
}

export interface ListingMedia {
  /** The first one is the main photograph. */
  readonly photographs: readonly ListingMedium[]
  readonly floorPlans: readonly ListingMedium[]
  /** Certificates and their graphs. */
  readonly energyCertificates: readonly ListingMedium[]
  /** Virtual and audio tours. */
  readonly tours: readonly ListingMedium[]
  readonly documents: readonly ListingMedium[]
  /** Media of an unknown type, or of none. */
  readonly otherMedia: readonly ListingMedium[]
}

const kindOfType: Readonly<Record<number, keyof ListingMedia>> = {
  1: 'photographs',
  2: 'floorPlans',
  3: 'documents',
  4: 'tours',
  5: 'tours',
  6: 'energyCertificates',
  7: 'energyCertificates',
}

/** By `sort_order`, then those without one in the order of the payload. Media without an http(s) address are left out. */
export function mediaOf(media: readonly PropertyMedia[]): ListingMedia {
  const sorted = media
    .filter(({ media_url: url }) => isWebAddress(url))
    .toSorted((a, b) => (a.sort_order ?? Infinity) - (b.sort_order ?? Infinity) || 0)
  const ofKind = (kind: keyof ListingMedia): readonly ListingMedium[] =>
    sorted.filter(({ media_type: type }) => (kindOfType[type ?? -1] ?? 'otherMedia') === kind).map(mediumOf)
  return {
    photographs: ofKind('photographs'),
    floorPlans: ofKind('floorPlans'),
    energyCertificates: ofKind('energyCertificates'),
    tours: ofKind('tours'),
    documents: ofKind('documents'),
    otherMedia: ofKind('otherMedia'),
  }
}

function mediumOf(item: PropertyMedia): ListingMedium {
  return {
    url: item.media_url ?? '',
    caption: item.caption?.trim() ?? '',
    type: named('mediaType', item.media_type),
    updatedOn: item.media_update_date?.local ?? null,
  }
}

/** Whether a browser would not run the address, and it cannot break out of an attribute. */
function isWebAddress(url: string | null): boolean {
  return url !== null && /^https?:\/\/[^\s"'<>\\^`{|}]+$/i.test(url)
}
