import { type DemoOptions, defaultSeed, propertyStories } from './demo-market.ts'
import { endlessStory } from './generate.ts'
import { leavingPace } from './live-rate.ts'
import { usualSize } from './listing.ts'
import type { MarketChange, PropertyBody } from './market-event.ts'
import { randomOf } from './random.ts'
import { staying } from './delayed-removal.ts'
import { type Chapter, type PropertyStory, tell, type ToldStory } from './story.ts'
import { marketTenants } from './tenants.ts'

/** The options of the demo market that this one continues. */
export interface LiveOptions extends DemoOptions {
  readonly untilMs: number
  /** The time, milliseconds since 1970: dates in payloads follow it, and each start brings other new homes. */
  readonly now: () => number
  /** What the addresses of new photographs begin with; by default as in the demo market. */
  readonly newMediaUrl?: string
}

/** The story, in which from a moment on homes leave only as they may. */
type Stay = (tenant: number, story: PropertyStory, fromMs: number) => ToldStory

interface OpenStory {
  readonly tenant: number
  readonly chapters: Generator<Chapter<PropertyBody>>
}

/**
 * Yields one change after another for ever, and makes each only when it is asked for: what becomes of the homes that the demo left on the
 * market (edits, reductions, offers, removals), and, soon after a home leaves it, a new listing of the same agency. Homes leave at the pace
 * of `leavingPace`, and are edited until they may. The changes have no times of their own: publish each as soon as you get it.
 */
export function* liveMarket(options: LiveOptions): Generator<MarketChange> {
  const { seed = defaultSeed, now } = options
  const liveSeed = `${seed}/live/${now()}`
  const random = randomOf(liveSeed)
  const leaves = marketTenants.map(() => leavingPace(now))
  const stay = (tenant: number, story: PropertyStory, fromMs: number) =>
    staying(story, fromMs, leaves[tenant] ?? leavingPace(now))
  const open = marketTenants.flatMap((_, tenant) => unfinished(options, tenant, stay))
  const nextHome = newStories(liveSeed, options, stay)
  /** Slots whose homes have left the market, in the order of leaving. */
  const left: number[] = []
  for (;;) {
    const next = random.chance(0.5) ? left.shift() : undefined
    const slot = next ?? random.integer(0, open.length - 1)
    let story = open[slot]
    let chapter = story?.chapters.next()
    while (story !== undefined && chapter?.done === true) {
      story = nextHome(story.tenant)
      open[slot] = story
      chapter = story.chapters.next()
    }
    if (story === undefined || chapter === undefined || chapter.done === true) return
    const { body } = chapter.value
    if ('remove' in body || body.payload.published !== true) left.push(slot)
    yield { tenant: story.tenant, feed: 'property', body }
  }
}

/** One new story after another, each for the agency asked for. */
function newStories(liveSeed: string, { now, mediaUrl, newMediaUrl = mediaUrl }: LiveOptions, stay: Stay) {
  let started = 0
  return (tenant: number): OpenStory => {
    for (;;) {
      const story = endlessStory(liveSeed, started, usualSize, newMediaUrl)
      started += 1
      if (marketTenants[tenant] === story.home.tenant) {
        return { tenant, chapters: tell(stay(tenant, story, -Infinity), now) }
      }
    }
  }
}

/** The demo's stories that continue after its end, told up to there. */
function unfinished(options: LiveOptions, tenant: number, stay: Stay): OpenStory[] {
  const { untilMs, now } = options
  return propertyStories(options, tenant)
    .filter(({ happenings }) => isUnfinished(happenings, untilMs))
    .map((story) => {
      const chapters = tell(stay(tenant, story, untilMs), (atMs) => (atMs <= untilMs ? atMs : now()))
      for (const { atMs } of story.happenings) {
        if (atMs > untilMs) break
        chapters.next()
      }
      return { tenant, chapters }
    })
}

function isUnfinished(happenings: PropertyStory['happenings'], untilMs: number): boolean {
  return (happenings[0]?.atMs ?? Infinity) <= untilMs && (happenings.at(-1)?.atMs ?? 0) > untilMs
}
