/** Photographs, floor plans, certificates, brochures and tours of a home, at addresses that lead nowhere. */
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

/** The items with `count` more after them. */
export function addPhotographs(
  random: Random,
  home: Home,
  items: readonly MediaItem[],
  count: number,
  atMs: number,
): readonly MediaItem[] {
  const captions = marketData().words['photograph'] ?? []
  const folder = `https://media.example.com/${home.tenant.initials.toLowerCase()}/${home.reference}`
  const date = londonTime(atMs)
  const all = [...items]
  for (let added = 0; added < count; added += 1) {
    const missing = extras.filter(([type]) => all.every((item) => item.media_type !== type))
    const extra =
      all.length >= 3 && missing.length > 0 && random.chance(0.25) ? random.pick(missing) : undefined
    const [mediaType, ending, caption] = extra ?? [1, 'jpg', random.pick(captions)]
    const order = all.length
    all.push({
      media_type: mediaType,
      media_url: `${folder}/${String(order + 1).padStart(2, '0')}-${random.hex(16)}.${ending}`,
      caption,
      sort_order: order,
      media_update_date: date,
    })
  }
  return all
}
