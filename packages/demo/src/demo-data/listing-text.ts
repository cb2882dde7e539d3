/** The texts of a listing. */
import type { Home } from './home.ts'
import { marketData } from './load-data.ts'
import { phrase, phrases } from './phrases.ts'
import type { Random } from './random.ts'

export interface ListingText {
  readonly summary: string
  readonly description: string
  readonly features: readonly string[]
  /** Not every listing says how to get there. */
  readonly directions: string | undefined
}

type Purpose = 'sales' | 'lettings'

/** New texts. The description is as long as `size` says, to within a paragraph. */
export function writeListingText(
  random: Random,
  home: Home,
  size: ListingSize,
  purpose: Purpose,
): ListingText {
  const opening = purpose === 'sales' ? 'saleOpening' : 'letOpening'
  const summary = phrase(random, opening, home.facts)
  const length = random.integer(size.description[0], size.description[1])
  if (size.bare) {
    const description = length === 0 ? '' : describe(random, home, length, purpose).slice(0, length)
    return { summary, description, features: [], directions: undefined }
  }
  const features = [
    ...phrases(random, 'feature', random.integer(0, 6), home.facts),
    ...phrases(random, home.flat ? 'flatFeature' : 'houseFeature', random.integer(0, 2), home.facts),
  ]
  return {
    summary: random.chance(0.4) ? `${summary} ${phrase(random, 'overview', home.facts)}` : summary,
    description: describe(random, home, length, purpose),
    features: [...new Set(features)],
    directions: random.chance(0.45) ? phrase(random, 'directions', home.facts) : undefined,
  }
}

/** The same texts with a line of news at the top, which replaces an earlier one. */
export function writeNews(random: Random, home: Home, texts: ListingText): ListingText {
  const { paragraphBreak } = home.tenant
  const newsLines = marketData().words['news'] ?? []
  const body = newsLines.some((line) => texts.description.startsWith(line))
    ? texts.description.slice(texts.description.indexOf(paragraphBreak) + paragraphBreak.length)
    : texts.description
  return { ...texts, description: `${phrase(random, 'news', home.facts)}${paragraphBreak}${body}` }
}

function describe(random: Random, home: Home, length: number, purpose: Purpose): string {
  const sale = purpose === 'sales'
  const say = (list: string, count: number) => phrases(random, list, count, home.facts).join(' ')
  const ending = [
    say(home.flat ? 'gardenFlat' : 'gardenHouse', 1),
    `${say('situation', 1)} ${random.sample(nearby(home), 2).join(' ')}`,
    say(sale ? 'saleClosing' : 'letClosing', random.integer(1, 3)),
  ]
  const overview = `${say(home.flat ? 'flatOverview' : 'houseOverview', 1)} ${say('overview', random.integer(1, 2))}`
  const paragraphs = [`${say(sale ? 'saleOpening' : 'letOpening', 1)} ${overview}`]
  let written = [...paragraphs, ...ending].join(home.tenant.paragraphBreak).length
  for (const room of rooms(random, home)) {
    written += room.length + home.tenant.paragraphBreak.length
    if (written > length) break
    paragraphs.push(room)
  }
  // A short listing of a large home still has room for the usual last sentences.
  const extra = say('parkingSentence', 1)
  if (written + extra.length < length) ending.splice(1, 0, extra)
  return [...paragraphs, ...ending].join(home.tenant.paragraphBreak)
}

function nearby(home: Home): readonly string[] {
  return marketData().surroundings[home.tenant.area].near
}

/** A paragraph per room, one at a time, in the order of a walk through the home. */
function* rooms(random: Random, home: Home): Generator<string> {
  const { facts } = home
  const room = (name: string, list: string, least: number, most: number) =>
    `${name} ${dimensions(random, least, most)} - ${phrase(random, list, facts)}`
  yield `Entrance Hall - ${phrase(random, 'hall', facts)}`
  const receptions = ['Reception Room', 'Dining Room', 'Family Room', 'Study', 'Snug', 'Garden Room']
  for (const name of receptions.slice(0, home.receptionRooms)) yield room(name, 'reception', 3.1, 6.8)
  yield room(random.pick(['Kitchen', 'Kitchen/Diner', 'Kitchen/Breakfast Room']), 'kitchen', 2.4, 6.2)
  for (let bedroom = 1; bedroom <= home.bedrooms; bedroom += 1) {
    yield room(`Bedroom ${bedroom}`, 'bedroom', 2.1, 5.2)
  }
  for (let bathroom = 1; bathroom <= home.bathrooms; bathroom += 1) {
    const name = bathroom === 1 ? 'Bathroom' : random.pick(['En Suite', 'Shower Room', 'Second Bathroom'])
    yield `${name} - ${phrase(random, 'bathroom', facts)}`
  }
}

/** Such as `4.21m x 3.05m (13'10 x 10'0)`. */
function dimensions(random: Random, least: number, most: number): string {
  const length = metres(random, least, most)
  const width = metres(random, least, Math.min(most, 4.4))
  return `${length.toFixed(2)}m x ${width.toFixed(2)}m (${feet(length)} x ${feet(width)})`
}

function metres(random: Random, least: number, most: number): number {
  return random.integer(least * 100, most * 100) / 100
}

function feet(length: number): string {
  const inches = Math.round(length / 0.0254)
  return `${Math.floor(inches / 12)}'${inches % 12}`
}

/** How much a payload holds. The usual is 2–6 kB of JSON. */
export interface ListingSize {
  /** Characters of the description: least and most. */
  readonly description: readonly [number, number]
  /** Photographs, plans and the like when it is listed: least and most. */
  readonly firstMedia: readonly [number, number]
  /** How many there may be in the end. */
  readonly mostMedia: number
  /** Only what every consumer needs, without media: about 480 bytes and the description. */
  readonly bare: boolean
}

export const defaultSize: ListingSize = {
  description: [1100, 2200],
  firstMedia: [4, 7],
  mostMedia: 12,
  bare: false,
}
