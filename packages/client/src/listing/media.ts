/** Photographs, floor plans and the other media, in display order. */
import type { PropertyMedia } from '../payload/property.ts'
import { wordsOf } from './description.ts'
import { named } from './named.ts'
import type { Named } from './named.ts'
import { webAddressOf } from './web-address.ts'

export interface ListingMedium {
  /** Percent-encoded where it has to be, so that it can stand in any page. */
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

/**
 * By `sort_order`, then those without one in the order of the payload; of each kind, each address once. Media whose address cannot be shown
 * are left out.
 */
export function mediaOf(media: readonly PropertyMedia[]): ListingMedia {
  const sorted = media.toSorted((a, b) => (a.sort_order ?? Infinity) - (b.sort_order ?? Infinity) || 0)
  const ofKind = (kind: keyof ListingMedia): readonly ListingMedium[] => {
    const found = new Map<string, ListingMedium>()
    for (const item of sorted) {
      if ((kindOfType[item.media_type ?? -1] ?? 'otherMedia') !== kind) continue
      const url = webAddressOf(item.media_url)
      if (url !== undefined && !found.has(url)) found.set(url, mediumOf(item, url))
    }
    return [...found.values()]
  }
  return {
    photographs: ofKind('photographs'),
    floorPlans: ofKind('floorPlans'),
    energyCertificates: ofKind('energyCertificates'),
    tours: ofKind('tours'),
    documents: ofKind('documents'),
    otherMedia: ofKind('otherMedia'),
  }
}

function mediumOf(item: PropertyMedia, url: string): ListingMedium {
  return {
    url,
    caption: wordsOf(item.caption),
    type: named('mediaType', item.media_type),
    updatedOn: item.media_update_date?.local ?? null,
  }
}
