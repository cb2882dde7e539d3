/** Photographs, floor plans, certificates, brochures and tours of a home. */
import { marketData } from './load-data.ts'
import type { Home } from './home.ts'
import type { Random } from './random.ts'
import { londonTime } from './wall-time.ts'

/** An item of `media` (spec §2.7, and RTDF's `sort_order`). */
export interface MediaItem {
  readonly media_type: number
  readonly media_url: string
  readonly caption: string
  readonly sort_order: number
  readonly media_update_date: string
}

/** What may follow the first photographs: RTDF media type, file ending, caption. Each once per listing. */
const extras = [
  [2, 'png', 'Floor plan'],
  [6, 'png', 'EPC'],
  [3, 'pdf', 'Brochure'],
  [4, 'html', 'Virtual tour'],
] as const

/** The address of the media of homes if no service has them: a host that nobody can own (RFC 2606). */
export const exampleMediaUrl = 'https://media.example.com'

/** The items with `count` more after them. */
export function addPhotographs(
  random: Random,
  home: Home,
  items: readonly MediaItem[],
  count: number,
  atMs: number,
): readonly MediaItem[] {
  const captions = marketData().words['photograph'] ?? []
  const date = londonTime(atMs)
  const isServed = home.mediaUrl !== exampleMediaUrl
  const possible = isServed ? extras.filter(([, ending]) => ending === 'png') : extras
  const all = [...items]
  for (let added = 0; added < count; added += 1) {
    const missing = possible.filter(([type]) => all.every((item) => item.media_type !== type))
    const extra =
      all.length >= 3 && missing.length > 0 && random.chance(0.25) ? random.pick(missing) : undefined
    const order = all.length
    const [mediaType, ending, picked] = extra ?? [1, 'jpg', random.pick(captions)]
    const caption = isServed && order === 0 ? 'Front' : picked
    all.push({
      media_type: mediaType,
      media_url: addressOf(home, { order, caption, ending, mark: random.hex(16) }),
      caption,
      sort_order: order,
      media_update_date: date,
    })
  }
  return all
}

interface Named {
  readonly order: number
  readonly caption: string
  readonly ending: string
  /** Sixteen hexadecimal digits: a new photograph has a new address. */
  readonly mark: string
}

/** A service has what the address names (`photographs.ts`): the form of the house, its reference, and what the photograph shows. */
function addressOf(home: Home, { order, caption, ending, mark }: Named): string {
  const number = String(order + 1).padStart(2, '0')
  if (home.mediaUrl === exampleMediaUrl) {
    return `${exampleMediaUrl}/${home.tenant.initials.toLowerCase()}/${home.reference}/${number}-${mark}.${ending}`
  }
  const scene = caption === '' ? 'front' : caption.toLowerCase().replaceAll(' ', '-')
  return `${home.mediaUrl}/${formOf(home)}/${home.reference}/${number}-${scene}-${mark.slice(0, 8)}.webp`
}

/** RTDF property types: 1, 2, 22 and 23 are terraced, 14 and 15 bungalows. */
function formOf({ flat, propertyType }: Home): 'flats' | 'bungalow' | 'terrace' | 'house' {
  if (flat) return 'flats'
  if ([14, 15].includes(propertyType)) return 'bungalow'
  return [1, 2, 22, 23].includes(propertyType) ? 'terrace' : 'house'
}
