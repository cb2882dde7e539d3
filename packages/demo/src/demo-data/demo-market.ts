/** The market that a new demo store is filled with: the same events for the same options, on every machine. */
import type { Category } from '@property-events/protocol'
import { uuidV5 } from '@property-events/server/plain'
import { type ContactPlan, contactStory } from './contact-story.ts'
import { makeHome } from './home.ts'
import { lettingStory } from './letting-story.ts'
import { unpublish } from './listing.ts'
import { defaultSize } from './listing-text.ts'
import { marketData, type Sale, type SoldHome } from './load-data.ts'
import type { MarketChange, MarketEvent } from './market-event.ts'
import { exampleMediaUrl } from './media.ts'
import { type Random, randomOf } from './random.ts'
import { saleStory } from './sale-story.ts'
import { type StoryStep, type PropertyStory, updatesOf } from './story.ts'
import { type MarketTenant, marketTenants } from './tenants.ts'
import { dayMs } from './wall-time.ts'

const weekMs = 7 * dayMs

export interface DemoOptions {
  /** Another seed gives another market; a home that is in both has the same `agent_ref`. */
  readonly seed?: string
  /**
   * The market reaches up to this moment, milliseconds since 1970. The default is just after the last real sale; for any other moment
   * all sales are moved by the same number of whole weeks, so that a Sunday stays one.
   */
  readonly untilMs?: number
  /** What the addresses of photographs begin with. Default: a host that nobody can own. */
  readonly mediaUrl?: string
}

export const defaultSeed = 'demo'
export const lastSaleMs = Date.UTC(2022, 11, 31, 18)

/** The approximate number of events in each tenant's stories, before those that fill its market. With the contacts there are about 6,500 in all. */
const quotas = { sales: 920, lettings: 600, contacts: 56 } as const

/**
 * Homes that last sold before 2018 are left out, and so are sales before 2016: over a shorter time more homes are on the
 * market at once. With few homes, the events of one home are next to each other, and pages compress twice as well as those of a real agency.
 */
const lastSoldMs = Date.UTC(2018, 0, 1)
const earliestSaleMs = Date.UTC(2016, 0, 1)

/** The most homes of a tenant that sold more than once; Newcastle has none in its one year. */
const resoldHomes = 15

/** An event before it is made: its time, its tenant, and how to get its body. */
interface Scheduled {
  readonly atMs: number
  readonly change: MarketChange
}

/** Yields about 6,500 events of all tenants in order of time; `at` rises strictly and is never after `untilMs`. */
export function* demoMarket(options: DemoOptions = {}): Generator<MarketEvent> {
  const { seed = defaultSeed, untilMs = lastSaleMs } = options
  const all = marketTenants.flatMap((_, tenant) => tenantEvents(options, tenant, untilMs))
  all.sort((one, other) => one.atMs - other.atMs)
  const random = randomOf(`${seed}/ticks`)
  let lastMs = -Infinity
  for (const { atMs, change } of all) {
    lastMs = Math.max(atMs, lastMs + 1)
    if (lastMs > untilMs) return
    const ticks = String(random.integer(0, 9999)).padStart(4, '0')
    yield { ...change, at: `${new Date(lastMs).toISOString().slice(0, 23)}${ticks}` }
  }
}

function tenantEvents(options: DemoOptions, tenant: number, untilMs: number): Scheduled[] {
  const { seed = defaultSeed } = options
  const stories = propertyStories(options, tenant)
  const events: Scheduled[] = []
  for (const story of stories) {
    for (const { atMs, body } of updatesOf(story)) {
      if (atMs > untilMs) break
      events.push({ atMs, change: { tenant, feed: 'property', body } })
    }
  }
  for (const [random, plan] of contactPlans(seed, tenant, stories, untilMs)) {
    for (const { atMs, body } of contactStory(random, plan)) {
      if (atMs > untilMs) break
      events.push({ atMs, change: { tenant, feed: 'contact', body } })
    }
  }
  return events
}

/**
 * The tenant's stories, before their events are made. Some continue after `untilMs`: those homes are on the market at
 * that moment.
 */
export function propertyStories(options: DemoOptions, tenant: number): PropertyStory[] {
  const { seed = defaultSeed, untilMs = lastSaleMs, mediaUrl = exampleMediaUrl } = options
  const agency = marketTenants[tenant]
  if (agency === undefined) throw new RangeError(`There is no tenant ${tenant}`)
  const movedMs = Math.ceil((untilMs - lastSaleMs) / weekMs) * weekMs
  const asOfMs = untilMs - movedMs
  const homes = shuffledHomes(seed, agency)
  const stories: PropertyStory[] = []
  /** The story of the next home; `undefined`: no home is left. */
  const next = (category: Category, plan: PlanSteps): PropertyStory | undefined => {
    const sold = homes.pop()
    if (sold === undefined) return undefined
    const random = randomOf(`${seed}/${category}/${sold.key}`)
    const home = makeHome(random, sold, uuidV5(agency.tenantId, `${category}/${sold.key}`), mediaUrl)
    return { home, category, bare: false, steps: plan(random, home, sold, asOfMs) }
  }
  for (const category of ['sales', 'lettings'] as const) {
    let count = 0
    while (count < quotas[category]) {
      const story = next(category, category === 'sales' ? salesOf : lettingsOf)
      if (story === undefined) break
      count += story.steps.filter(({ atMs }) => atMs <= asOfMs).length
      if (story.steps.length > 0) stories.push(story)
    }
  }
  let onMarket = stories.filter((story) => isOnMarket(story, asOfMs)).length
  while (onMarket < agency.homesOnMarket) {
    const isLetting = onMarket % 3 === 0
    const story = next(isLetting ? 'lettings' : 'sales', isLetting ? newLettingOf : newSaleOf)
    if (story === undefined) break
    if (!isOnMarket(story, asOfMs)) continue
    stories.push(story)
    onMarket += 1
  }
  return stories.map((story) => ({ ...story, steps: moved(story.steps, movedMs) }))
}

function moved(steps: readonly StoryStep[], byMs: number): StoryStep[] {
  return steps.map((step) => ({ ...step, atMs: step.atMs + byMs }))
}

/** Whether the home is published at the moment. */
function isOnMarket({ steps }: PropertyStory, atMs: number): boolean {
  const last = steps.findLast((step) => step.atMs <= atMs)
  return last !== undefined && last.kind !== 'remove' && !(last.kind === 'leave' && last.edit === unpublish)
}

/** Homes of the agency's area in random order, taken from the end; some that sold again come first. */
function shuffledHomes(seed: string, agency: MarketTenant): SoldHome[] {
  const homes = marketData().homes.filter(
    ({ area, sales }) => area === agency.area && (sales.at(-1)?.deedMs ?? 0) >= lastSoldMs,
  )
  const shuffled = randomOf(`${seed}/homes/${agency.area}`).sample(homes, homes.length)
  const resold = shuffled.filter((home) => recentSales(home).length > 1).slice(0, resoldHomes)
  return [...shuffled.filter((home) => !resold.includes(home)), ...resold]
}

function recentSales({ sales }: SoldHome): readonly Sale[] {
  return sales.filter(({ deedMs }) => deedMs >= earliestSaleMs)
}

type PlanSteps = (random: Random, home: PropertyStory['home'], sold: SoldHome, asOfMs: number) => StoryStep[]

/** The home's real sales; for one home in three also a later attempt to sell, half of which are under way at `asOfMs`. */
const salesOf: PlanSteps = (random, home, sold, asOfMs) => {
  const steps = recentSales(sold).flatMap(({ deedMs, pricePaid }) =>
    saleStory(random, home, defaultSize, { end: 'sold', deedMs, pricePaid }),
  )
  const last = sold.sales.at(-1)
  if (last === undefined || !random.chance(0.33)) return steps
  const listedMs = asOfMs - random.integer(1, random.chance(0.5) ? 120 : 600) * dayMs
  if (listedMs < last.deedMs + 270 * dayMs) return steps
  const value = grown(last.pricePaid, listedMs - last.deedMs)
  return [...steps, ...saleStory(random, home, defaultSize, { end: 'unsold', listedMs, value })]
}

/** Bought by a landlord at its last real sale, and let through this agency for less than two years up to `asOfMs`. */
const lettingsOf: PlanSteps = (random, home, sold, asOfMs) => {
  const last = sold.sales.at(-1)
  if (last === undefined || home.bedrooms > 4) return []
  const startMs = Math.max(
    last.deedMs + random.integer(20, 90) * dayMs,
    asOfMs - random.integer(30, 700) * dayMs,
  )
  return lettingStory(random, home, defaultSize, { startMs, untilMs: asOfMs, value: last.pricePaid })
}

/** For sale for less than four months, and not sold yet. */
const newSaleOf: PlanSteps = (random, home, sold, asOfMs) => {
  const listedMs = asOfMs - random.integer(1, 110) * dayMs
  const last = sold.sales.at(-1)
  if (last === undefined || listedMs < last.deedMs) return []
  const value = grown(last.pricePaid, listedMs - last.deedMs)
  return saleStory(random, home, defaultSize, { end: 'unsold', listedMs, value })
}

/** To let for less than a month. */
const newLettingOf: PlanSteps = (random, home, sold, asOfMs) => {
  const last = sold.sales.at(-1)
  if (last === undefined || home.bedrooms > 4) return []
  const startMs = asOfMs - random.integer(1, 30) * dayMs
  return lettingStory(random, home, defaultSize, { startMs, untilMs: asOfMs, value: last.pricePaid })
}

/** Prices rise by 4 % of the first price a year. */
function grown(pricePaid: number, elapsedMs: number): number {
  return pricePaid * (1 + (0.04 * elapsedMs) / (365 * dayMs))
}

/** Half of the contacts come with a property a week before it is listed, the others by themselves. */
function contactPlans(
  seed: string,
  tenant: number,
  stories: readonly PropertyStory[],
  untilMs: number,
): (readonly [Random, ContactPlan])[] {
  const agency = marketTenants[tenant]
  if (agency === undefined) return []
  const random = randomOf(`${seed}/contacts/${agency.area}`)
  const started = stories.filter(({ steps: [first] }) => first !== undefined && first.atMs < untilMs)
  return random.sample(started, quotas.contacts).map((story, index) => {
    const listedMs = story.steps[0]?.atMs ?? untilMs
    const role = story.category === 'lettings' ? 'landlord' : 'vendor'
    const contactRef = uuidV5(agency.tenantId, `contact/${seed}/${index}`)
    const property = index % 2 === 0 ? ({ agentRef: story.home.agentRef, role } as const) : undefined
    return [
      randomOf(`${seed}/contact/${contactRef}`),
      { contactRef, tenant: agency, metMs: listedMs - 7 * dayMs, property },
    ] as const
  })
}
