/** Photographs, floor plans and the other media, in display order. */
import type { PropertyMedia } from '../payload/property.ts'
import { wordsOf } from './description.ts'
import { named } from './named.ts'
import type { Named } from './named.ts'

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

export const kindOfType: Readonly<Record<number, keyof ListingMedia>> = {
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

/** The longest address that the contract accepts, in characters. */
const longestAddress = 2048
const addressForm =
  /^(https?):\/\/(\[[0-9A-F.]*:[0-9A-F.]*:[0-9A-F:.]*\]|[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]*)(:\d{1,5})?([/?#].*)?$/isu
/** A host that ends in a number is an address of four numbers. */
const endsInNumber = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i
const fourNumbers = /^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.|$)){4}$/
const highestPort = 65_535

/**
 * The address as a browser asks for it: what cannot stand in an address or attribute is percent-encoded. `undefined` if it cannot be shown:
 * another scheme, no host or port that can exist, a user name, too long. The same rule is in `PropertyListing.php`, and in the service,
 * whose receipt says what is not shown.
 */
export function webAddressOf(text: string | null): string | undefined {
  // Browsers skip tabs and line ends, wherever they are.
  const given = (text ?? '').trim().replaceAll(/[\t\n\r]/g, '')
  if (given.length > 2 * longestAddress) return undefined
  if (given.length > longestAddress && Array.from(given).length > longestAddress) return undefined
  const [, scheme = '', host = '', port = '', rest = ''] = addressForm.exec(given) ?? []
  if (host === '' || Number(port.slice(1)) > highestPort) return undefined
  if (endsInNumber.test(host) && !fourNumbers.test(host)) return undefined
  const [path = ''] = /^[^?#]*/.exec(rest) ?? []
  const tail = path.replaceAll('\\', '/') + rest.slice(path.length)
  return `${scheme.toLowerCase()}://${host}${port}${encoded(tail)}`
}

function encoded(text: string): string {
  return text.replaceAll(/[^!#-&(-;=?-[\]_a-z~]/gu, (character) => {
    if (character === "'") return '%27'
    // Half of a surrogate pair is no character.
    return encodeURIComponent(/\p{Cs}/u.test(character) ? '\ufffd' : character)
  })
}
