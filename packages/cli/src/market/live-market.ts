import { defaultAsOfMs, defaultSeed, propertyStories } from './demo-market.ts'
import { endlessStory } from './generate.ts'
import { usualSize } from './listing.ts'
import type { MarketChange, PropertyBody } from './market-event.ts'
import { randomOf } from './random.ts'
import { type Chapter, type PropertyStory, tell } from './story.ts'
import { marketTenants } from './tenants.ts'

export interface LiveOptions {
  /** The seed and the end of the demo market that this one carries on. */
  readonly seed?: string
  readonly asOfMs?: number
  /** The time, milliseconds since 1970: dates in payloads follow it, and each start brings other new homes. */
  readonly now: () => number
}

/** Homes on the market at once; when one leaves it, another comes. */
const openStories = 120

interface OpenStory {
  readonly tenant: number
  readonly chapters: Generator<Chapter<PropertyBody>>
}

/**
 * Yields one change after another for ever, each made when it is asked for: what becomes of the homes that the demo left on the
 * market (edits, reductions, offers, removals), and new listings. It has no wished times: publish each as it comes.
 */
export function* liveMarket(options: LiveOptions): Generator<MarketChange> {
  const { seed = defaultSeed, asOfMs = defaultAsOfMs, now } = options
  const liveSeed = `${seed}/live/${now()}`
  const random = randomOf(liveSeed)
  const open = marketTenants.flatMap((_, tenant) => unfinished(seed, tenant, asOfMs, now))
  let started = 0
  for (;;) {
    if (open.length < openStories) {
      open.push(begin(endlessStory(liveSeed, started, usualSize), now))
      started += 1
    }
    const slot = random.integer(0, open.length - 1)
    const story = open[slot]
    const chapter = story?.chapters.next()
    if (story === undefined || chapter === undefined || chapter.done === true) open.splice(slot, 1)
    else yield { tenant: story.tenant, feed: 'property', body: chapter.value.body }
  }
}

function begin(story: PropertyStory, now: () => number): OpenStory {
  return { tenant: marketTenants.indexOf(story.home.tenant), chapters: tell(story, now) }
}

/** The demo's stories that go on after its end, told up to there. */
function unfinished(seed: string, tenant: number, asOfMs: number, now: () => number): OpenStory[] {
  return propertyStories(seed, tenant, asOfMs)
    .filter(
      ({ happenings }) =>
        (happenings[0]?.atMs ?? Infinity) <= asOfMs && (happenings.at(-1)?.atMs ?? 0) > asOfMs,
    )
    .map((story) => {
      const chapters = tell(story, (atMs) => (atMs <= asOfMs ? atMs : now()))
      for (const { atMs } of story.happenings) {
        if (atMs > asOfMs) break
        chapters.next()
      }
      return { tenant, chapters }
    })
}
