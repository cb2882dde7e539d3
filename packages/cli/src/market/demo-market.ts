/** The market that a new demo store is filled with: the same events for the same options, on every machine. */
import { uuidV5 } from '@property-events/protocol'
import { type ContactPlan, contactStory } from './contact-story.ts'
import { makeHome } from './home.ts'
import { lettingStory } from './letting-story.ts'
import { usualSize } from './listing.ts'
import { marketData, type Sale, type SoldHome } from './load-data.ts'
import type { MarketChange, MarketEvent } from './market-event.ts'
import { type Random, randomOf } from './random.ts'
import { saleStory } from './sale-story.ts'
import { type Happening, type PropertyStory, tell } from './story.ts'
import { type MarketTenant, marketTenants } from './tenants.ts'
import { dayMs } from './wall-time.ts'

export interface DemoOptions {
  /** Another seed gives another market; a home that is in both has the same `agent_ref`. */
  readonly seed?: string
  /** Nothing happens after this moment, milliseconds since 1970. The default is just after the last real sale. */
  readonly asOfMs?: number
}

export const defaultSeed = 'demo'
export const defaultAsOfMs = Date.UTC(2022, 11, 31, 18)

/** The approximate number of events in each tenant's stories. With the contacts there are about 5,000 in all. */
const quotas = { sales: 920, lettings: 600, contacts: 56 } as const

/**
 * Homes that last sold before 2018 are left out, and so are sales before 2016: over a shorter time more homes are on the
 * market at once. With few, the events of one home stand side by side, and pages compress twice as well as a real agency's.
 */
const lastSoldMs = Date.UTC(2018, 0, 1)
const firstToldMs = Date.UTC(2016, 0, 1)

/** The most homes of a tenant that sold more than once; Newcastle has none in its one year. */
const resoldHomes = 15

/** An event before it is made: its time, its tenant, and how to get its body. */
interface Scheduled {
  readonly atMs: number
  readonly change: MarketChange
}

/** Yields about 5,000 events of all tenants in order of time; `at` rises strictly and is never after `asOfMs`. */
export function* demoMarket(options: DemoOptions = {}): Generator<MarketEvent> {
  const { seed = defaultSeed, asOfMs = defaultAsOfMs } = options
  const all = marketTenants.flatMap((_, tenant) => tenantEvents(seed, tenant, asOfMs))
  all.sort((one, other) => one.atMs - other.atMs)
  const random = randomOf(`${seed}/ticks`)
  let lastMs = -Infinity
  for (const { atMs, change } of all) {
    lastMs = Math.max(atMs, lastMs + 1)
    if (lastMs > asOfMs) return
    const ticks = String(random.integer(0, 9999)).padStart(4, '0')
    yield { ...change, at: `${new Date(lastMs).toISOString().slice(0, 23)}${ticks}` }
  }
}

function tenantEvents(seed: string, tenant: number, asOfMs: number): Scheduled[] {
  const stories = propertyStories(seed, tenant, asOfMs)
  const events: Scheduled[] = []
  for (const story of stories) {
    for (const { atMs, body } of tell(story)) {
      if (atMs > asOfMs) break
      events.push({ atMs, change: { tenant, feed: 'property', body } })
    }
  }
  for (const [random, plan] of contactPlans(seed, tenant, stories, asOfMs)) {
    for (const { atMs, body } of contactStory(random, plan)) {
      if (atMs > asOfMs) break
      events.push({ atMs, change: { tenant, feed: 'contact', body } })
    }
  }
  return events
}

/**
 * The tenant's stories, before their events are made. Some continue after `asOfMs`: those homes are on the market at
 * that moment.
 */
export function propertyStories(seed: string, tenant: number, asOfMs: number): PropertyStory[] {
  const agency = marketTenants[tenant]
  if (agency === undefined) throw new RangeError(`There is no tenant ${tenant}`)
  const homes = shuffledHomes(seed, agency)
  const stories: PropertyStory[] = []
  for (const category of ['sales', 'lettings'] as const) {
    let told = 0
    while (told < quotas[category]) {
      const sold = homes.pop()
      if (sold === undefined) break
      const random = randomOf(`${seed}/${category}/${sold.key}`)
      const home = makeHome(random, sold, uuidV5(agency.tenantId, `${category}/${sold.key}`))
      const plan = category === 'sales' ? salesOf : lettingsOf
      const happenings = plan(random, home, sold, asOfMs)
      told += happenings.filter(({ atMs }) => atMs <= asOfMs).length
      if (happenings.length > 0) stories.push({ home, category, bare: false, happenings })
    }
  }
  return stories
}

/** Homes of the agency's area in random order, taken from the end; some that sold again come first. */
function shuffledHomes(seed: string, agency: MarketTenant): SoldHome[] {
  const homes = marketData().homes.filter(
    ({ area, sales }) => area === agency.area && (sales.at(-1)?.deedMs ?? 0) >= lastSoldMs,
  )
  const shuffled = randomOf(`${seed}/homes/${agency.area}`).sample(homes, homes.length)
  const resold = shuffled.filter((home) => toldSales(home).length > 1).slice(0, resoldHomes)
  return [...shuffled.filter((home) => !resold.includes(home)), ...resold]
}

function toldSales({ sales }: SoldHome): readonly Sale[] {
  return sales.filter(({ deedMs }) => deedMs >= firstToldMs)
}

type PlanHappenings = (
  random: Random,
  home: PropertyStory['home'],
  sold: SoldHome,
  asOfMs: number,
) => Happening[]

/** The home's real sales; for one home in three a later attempt to sell, half of them under way at `asOfMs`. */
const salesOf: PlanHappenings = (random, home, sold, asOfMs) => {
  const happenings = toldSales(sold).flatMap(({ deedMs, pricePaid }) =>
    saleStory(random, home, usualSize, { end: 'sold', deedMs, pricePaid }),
  )
  const last = sold.sales.at(-1)
  if (last === undefined || !random.chance(0.33)) return happenings
  const listedMs = asOfMs - random.integer(1, random.chance(0.5) ? 120 : 600) * dayMs
  if (listedMs < last.deedMs + 270 * dayMs) return happenings
  const value = grown(last.pricePaid, listedMs - last.deedMs)
  return [...happenings, ...saleStory(random, home, usualSize, { end: 'unsold', listedMs, value })]
}

/** Bought by a landlord at its last real sale, and let through this agency since less than two years before `asOfMs`. */
const lettingsOf: PlanHappenings = (random, home, sold, asOfMs) => {
  const last = sold.sales.at(-1)
  if (last === undefined || home.bedrooms > 4) return []
  const startMs = Math.max(
    last.deedMs + random.integer(20, 90) * dayMs,
    asOfMs - random.integer(30, 700) * dayMs,
  )
  return lettingStory(random, home, usualSize, { startMs, untilMs: asOfMs, value: last.pricePaid })
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
  asOfMs: number,
): (readonly [Random, ContactPlan])[] {
  const agency = marketTenants[tenant]
  if (agency === undefined) return []
  const random = randomOf(`${seed}/contacts/${agency.area}`)
  const started = stories.filter(({ happenings: [first] }) => first !== undefined && first.atMs < asOfMs)
  return random.sample(started, quotas.contacts).map((story, index) => {
    const listedMs = story.happenings[0]?.atMs ?? asOfMs
    const role = story.category === 'lettings' ? 'landlord' : 'vendor'
    const contactRef = uuidV5(agency.tenantId, `contact/${seed}/${index}`)
    const property = index % 2 === 0 ? ({ agentRef: story.home.agentRef, role } as const) : undefined
    return [
      randomOf(`${seed}/contact/${contactRef}`),
      { contactRef, tenant: agency, metMs: listedMs - 7 * dayMs, property },
    ] as const
  })
}
