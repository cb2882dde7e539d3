import { defaultSeed, propertyStories } from './demo-market.ts'
import type { DemoOptions } from './demo-market.ts'
import { endlessStory } from './generate.ts'
import { replacePhotographs, rewriteTexts, setPrice, setStatus, statuses } from './listing.ts'
import { defaultSize } from './listing-text.ts'
import type { Edit } from './listing.ts'
import type { MarketChange, PropertyBody } from './market-event.ts'
import { randomOf } from './random.ts'
import type { Random } from './random.ts'
import { updatesOf } from './story.ts'
import type { StoryUpdate, StoryStep, PropertyStory, LazyStory } from './story.ts'
import { marketTenants } from './tenants.ts'

/** The options of the demo market that this one continues. */
export interface LiveOptions extends DemoOptions {
  readonly untilMs: number
  /** The time, milliseconds since 1970: dates in payloads follow it, and each start brings other new homes. */
  readonly now: () => number
  /** What the addresses of new photographs begin with; by default as in the demo market. */
  readonly newMediaUrl?: string
}

/** The story, in which homes leave the market after a moment only as `removalLimiter` allows. */
type DelayRemovals = (tenant: number, story: PropertyStory, fromMs: number) => LazyStory

interface OpenStory {
  readonly tenant: number
  readonly updates: Generator<StoryUpdate<PropertyBody>>
}

/**
 * Yields one change after another for ever, and makes each only when it is asked for: what becomes of the homes that the demo left on the
 * market (edits, reductions, offers, removals), and, soon after a home leaves it, a new listing of the same agency. `removalLimiter` says when
 * a home may be removed; until then it is edited. The changes have no times of their own: publish each as soon as you get it.
 */
export function* liveMarket(options: LiveOptions): Generator<MarketChange> {
  const { seed = defaultSeed, now } = options
  const liveSeed = `${seed}/live/${now()}`
  const random = randomOf(liveSeed)
  const limiters = marketTenants.map(() => removalLimiter(now))
  const delayRemovals = (tenant: number, story: PropertyStory, fromMs: number) =>
    withDelayedRemovals(story, fromMs, limiters[tenant] ?? removalLimiter(now))
  const open = marketTenants.flatMap((_, tenant) => openStories(options, tenant, delayRemovals))
  const nextHome = newStories(liveSeed, options, delayRemovals)
  /** Slots whose homes were removed from the market, the earliest first. */
  const freeSlots: number[] = []
  for (;;) {
    const next = random.chance(0.5) ? freeSlots.shift() : undefined
    const slot = next ?? random.integer(0, open.length - 1)
    let story = open[slot]
    let update = story?.updates.next()
    while (story !== undefined && update?.done === true) {
      story = nextHome(story.tenant)
      open[slot] = story
      update = story.updates.next()
    }
    if (story === undefined || update === undefined || update.done === true) return
    const { body } = update.value
    if ('remove' in body || body.payload.published !== true) freeSlots.push(slot)
    yield { tenant: story.tenant, feed: 'property', body }
  }
}

/** One new story after another, each for the agency asked for. */
function newStories(
  liveSeed: string,
  { now, mediaUrl, newMediaUrl = mediaUrl }: LiveOptions,
  delayRemovals: DelayRemovals,
) {
  let started = 0
  return (tenant: number): OpenStory => {
    for (;;) {
      const story = endlessStory(liveSeed, started, defaultSize, newMediaUrl)
      started += 1
      if (marketTenants[tenant] === story.home.tenant) {
        return { tenant, updates: updatesOf(delayRemovals(tenant, story, -Infinity), now) }
      }
    }
  }
}

/** The demo's stories that continue after its end, read up to there. */
function openStories(options: LiveOptions, tenant: number, delayRemovals: DelayRemovals): OpenStory[] {
  const { untilMs, now } = options
  return propertyStories(options, tenant)
    .filter(({ steps }) => isOpen(steps, untilMs))
    .map((story) => {
      const updates = updatesOf(delayRemovals(tenant, story, untilMs), (atMs) =>
        atMs <= untilMs ? atMs : now(),
      )
      for (const { atMs } of story.steps) {
        if (atMs > untilMs) break
        updates.next()
      }
      return { tenant, updates }
    })
}

function isOpen(steps: PropertyStory['steps'], untilMs: number): boolean {
  return (steps[0]?.atMs ?? Infinity) <= untilMs && (steps.at(-1)?.atMs ?? 0) > untilMs
}

/** Soon after the start, when somebody is probably watching, there is a change every 2 to 6 seconds. */
const watchedForMs = 2 * 3_600_000
const [shortestMs, longestMs] = [2_000, 6_000]
/** A demo that was left open: a weekend of 64 hours has some 9,000 changes in all. */
const leftOpenMs = 30_000

/**
 * The market stands still once all agencies together, including those of the start, have this many property events. A change takes some
 * 5 kB of disk, so events never take more than 200 MB; that is reached after eleven days around the clock.
 */
export const mostDemoEvents = 40_000

/** How long to wait before the next change. `runningMs`: since the demo was started. */
export function pauseMs(random: Random, runningMs: number): number {
  return runningMs < watchedForMs ? random.integer(shortestMs, longestMs) : leftOpenMs
}

/**
 * A copy is stopped when too much of it goes within a day, and one that counts each of its removals always lets 20 go, and counts them for
 * up to 25 hours. So an agency begins with some homes that may leave, and gets more one by one: never more than 20 in 25 hours, for
 * whatever part of its homes a reader follows.
 */
const removalsAtOnce = 8
const msPerRemoval = (25 * 3_600_000) / (20 - removalsAtOnce)

/** Whether one more home of an agency may leave its market, or a branch, now; if so, it is counted. */
function removalLimiter(now: () => number): () => boolean {
  let [left, atMs] = [removalsAtOnce, now()]
  return () => {
    const nowMs = now()
    left = Math.min(removalsAtOnce, left + Math.max(0, nowMs - atMs) / msPerRemoval)
    atMs = nowMs
    if (left < 1) return false
    left -= 1
    return true
  }
}

/** The story. After `fromMs` the home leaves its market or branch only once `mayRemove` allows it, and is edited until then. */
function withDelayedRemovals(story: PropertyStory, fromMs: number, mayRemove: () => boolean): LazyStory {
  return { ...story, steps: stepsOf(story, fromMs, mayRemove) }
}

function* stepsOf(
  story: PropertyStory,
  fromMs: number,
  mayRemove: () => boolean,
): Generator<StoryStep, void> {
  const edits = furtherEdits(story)
  for (const step of story.steps) {
    const { kind, atMs } = step
    if ((kind === 'remove' || kind === 'leave') && atMs > fromMs) {
      while (!mayRemove()) yield { kind: 'edit', atMs, edit: edits() }
    }
    yield step
  }
}

/** One edit after another. The price goes down once and up again, so that it stays near what the home is worth. */
function furtherEdits({ home, category }: PropertyStory): () => Edit {
  const random = randomOf(`staying/${home.agentRef}`)
  const agreed = category === 'lettings' ? statuses.letAgreed : statuses.sstc
  let before: number | undefined
  const changePrice: Edit = (listing, atMs) => {
    const price = before ?? Math.round((listing.price * 0.97) / 5) * 5
    before = before === undefined ? listing.price : undefined
    return setPrice(price)(listing, atMs)
  }
  const changeStatus: Edit = (listing, atMs) =>
    setStatus(random, listing.status === statuses.available ? agreed : statuses.available)(listing, atMs)
  return () =>
    random.pick([
      replacePhotographs(random, home, defaultSize),
      rewriteTexts(random, home, defaultSize),
      rewriteTexts(random, home, defaultSize),
      changePrice,
      changeStatus,
    ])
}
