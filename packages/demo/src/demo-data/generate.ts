import { uuidV5 } from '@property-events/server/plain'
import { makeHome } from './home.ts'
import { lettingStory } from './letting-story.ts'
import { type ListingSize, defaultSize } from './listing-text.ts'
import { marketData, type SoldHome } from './load-data.ts'
import type { PropertyBody } from './market-event.ts'
import { exampleMediaUrl } from './media.ts'
import { type Random, randomOf } from './random.ts'
import { saleStory } from './sale-story.ts'
import { type StoryUpdate, type PropertyStory, updatesOf } from './story.ts'
import { dayMs } from './wall-time.ts'

export interface GenerateOptions {
  /** The number of lines. */
  readonly events: number
  /** Same seed, same bytes; other seeds share no property. */
  readonly seed: string
  /** Mean length of the lines with a payload, in bytes, to about a tenth: 500 to 16,000. Default: as the demo, about 4,800. */
  readonly averageBytes?: number
}

interface GeneratePropertiesOptions extends Omit<GenerateOptions, 'events'> {
  /** The number of homes, and of lines. */
  readonly properties: number
}

/** Names the properties of generated streams; a random UUID. */
const namespace = '9d0c5b1e-62f7-4c1a-8a39-f04be7d25163'

/** Homes that change in the same period: the events of one are about this many lines apart. Bounds the memory. */
const openStories = 1_000

/**
 * Yields `events` lines without a line end, each a body for `POST /v1/property-events`. The lines of a home are in
 * order, mixed with those of others, and a removal follows a payload of the same home. Throws a RangeError when
 * `events` is not a whole number of at least 0 or `averageBytes` is out of range.
 */
export function* generate({ events, seed, averageBytes }: GenerateOptions): Generator<string> {
  const size = checkedSize('events', events, averageBytes)
  const random = randomOf(seed)
  const open: Generator<StoryUpdate<PropertyBody>>[] = []
  let started = 0
  for (let line = 0; line < events; line += 1) {
    // The first lines open stories one by one, so that a short stream has removals too.
    const slot =
      open.length < openStories && random.chance(0.3) ? open.length : random.integer(0, open.length - 1)
    let chapter = open[Math.max(0, slot)]?.next()
    while (chapter === undefined || chapter.done === true) {
      const story = updatesOf(endlessStory(seed, started, size))
      open[Math.max(0, slot)] = story
      started += 1
      chapter = story.next()
    }
    yield JSON.stringify(chapter.value.body)
  }
}

/**
 * Yields a line for each of `properties` homes on the market, as it is tonight: what an agency's nightly file of everything holds. Each is a
 * body as those of `generate`, and throws as that does.
 */
export function* generateProperties(options: GeneratePropertiesOptions): Generator<string> {
  const { properties, seed, averageBytes } = options
  const size = checkedSize('properties', properties, averageBytes)
  for (let index = 0; index < properties; index += 1) {
    // Some have just been listed, others have been edited a few times.
    let left = randomOf(`${seed}/${index}/tonight`).integer(1, 4)
    let tonight: PropertyBody | undefined
    for (const { body } of updatesOf(endlessStory(seed, index, size))) {
      if ('payload' in body && body.payload.published === true) tonight = body
      left -= 1
      if (left === 0) break
    }
    yield JSON.stringify(tonight)
  }
}

/** Story number `index` of the seed. Each is about a different home, made from a real sale. */
export function endlessStory(
  seed: string,
  index: number,
  size: ListingSize,
  mediaUrl: string = exampleMediaUrl,
): PropertyStory {
  const random = randomOf(`${seed}/${index}`)
  const sold = random.pick(marketData().homes)
  const home = makeHome(random, sold, uuidV5(namespace, `${seed}/${index}`), mediaUrl)
  const category = random.chance(0.65) ? 'sales' : 'lettings'
  return { home, category, bare: size.bare, steps: stepsOf(random, home, sold, category, size) }
}

function stepsOf(
  random: Random,
  home: PropertyStory['home'],
  sold: SoldHome,
  category: PropertyStory['category'],
  size: ListingSize,
) {
  const { deedMs, pricePaid } = random.pick(sold.sales)
  if (category === 'lettings') {
    const untilMs = deedMs + 400 * dayMs
    return lettingStory(random, home, size, { startMs: deedMs, untilMs, value: pricePaid })
  }
  return random.chance(0.8)
    ? saleStory(random, home, size, { end: 'sold', deedMs, pricePaid })
    : saleStory(random, home, size, { end: 'unsold', listedMs: deedMs, value: pricePaid })
}

function checkedSize(name: string, number: number, averageBytes: number | undefined): ListingSize {
  if (!Number.isSafeInteger(number) || number < 0)
    throw new RangeError(`${name} is ${number}; it must be a whole number, 0 or more`)
  return averageBytes === undefined ? defaultSize : sizeFor(averageBytes)
}

/** Bytes of a line without description and media, and of one item of media: means of 5,000 lines. */
const bareBytes = 475
const fullBytes = 1_900
const mediaBytes = 178

/** Texts and photographs that give payloads of about this many bytes. */
function sizeFor(averageBytes: number): ListingSize {
  if (!(averageBytes >= 500 && averageBytes <= 16_000)) {
    throw new RangeError(`averageBytes is ${averageBytes}; it must be from 500 to 16,000`)
  }
  if (averageBytes < 2_800) {
    const description = Math.max(0, averageBytes - bareBytes)
    return { description: [description, description], firstMedia: [0, 0], mostMedia: 0, bare: true }
  }
  const description = Math.min(1_800, Math.max(800, averageBytes * 0.35))
  const media = Math.max(1, Math.round((averageBytes - fullBytes - description) / mediaBytes))
  return {
    description: [Math.round(description * 0.8), Math.round(description * 1.2)],
    firstMedia: [Math.max(0, media - 1), media + 1],
    mostMedia: media + 1,
    bare: false,
  }
}
