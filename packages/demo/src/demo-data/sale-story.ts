import type { Home } from './home.ts'
import {
  type Edit,
  moveBranch,
  newListing,
  replacePhotographs,
  rewriteTexts,
  type SaleTerms,
  setPrice,
  setStatus,
  statuses,
  unpublish,
} from './listing.ts'
import type { ListingSize } from './listing-text.ts'
import { removalReasons } from './market-event.ts'
import type { Random } from './random.ts'
import type { StoryStep } from './story.ts'
import { dayMs, openingHours } from './wall-time.ts'

/** How a home's time on the market ends. `sold`: on the day of the deed, at the real price. */
type SalePlan =
  | { readonly end: 'sold'; readonly deedMs: number; readonly pricePaid: number }
  | { readonly end: 'unsold'; readonly listedMs: number; readonly value: number }

/** Days that pass from being listed to the first offer, to a failed one, to the next, and to the deed. */
interface Course {
  readonly offer: number
  readonly failure: number | undefined
  readonly end: number
}

/**
 * One time of a home on the market for sale: listed, photographs and text edited, reduced, under offer, sold subject
 * to contract, now and then fallen through and sold again, removed. A sold home's asking prices lie between 1.0 and 1.08
 * times the price paid, to the rounding of agents.
 */
export function saleStory(random: Random, home: Home, size: ListingSize, plan: SalePlan): StoryStep[] {
  const course = courseOf(random, plan.end)
  const startMs = plan.end === 'sold' ? plan.deedMs - course.end * dayMs : plan.listedMs
  const moment = (day: number) => openingHours(random, startMs + day * dayMs)
  const value = plan.end === 'sold' ? plan.pricePaid : plan.value
  const reduced = random.chance(plan.end === 'sold' ? 0.35 : 0.7)
  const asking = askingPrice(value * (reduced ? between(random, 1.045, 1.075) : between(random, 1.005, 1.05)))
  const terms = { category: 'sales', sale: saleTerms(random, home) } as const
  const steps: StoryStep[] = [
    { kind: 'list', atMs: moment(0), list: (atMs) => newListing(random, home, size, asking, terms, atMs) },
  ]
  const edit = (day: number, change: Edit) => steps.push({ kind: 'edit', atMs: moment(day), edit: change })
  const leave = (day: number, change: Edit) => steps.push({ kind: 'leave', atMs: moment(day), edit: change })

  edit(random.integer(2, 8), replacePhotographs(random, home, size))
  if (random.chance(0.6)) edit(random.integer(9, 18), rewriteTexts(random, home, size))
  if (reduced) {
    const lower = askingPrice(value * between(random, 1.005, 1.03))
    if (lower < asking) edit(random.integer(19, course.offer - 2), setPrice(lower))
  }
  if (random.chance(0.04)) leave(course.offer - 1, moveBranch(random, home))
  if (plan.end === 'sold' || course.failure !== undefined) offered(course.offer)
  if (course.failure !== undefined) {
    edit(course.failure, setStatus(random, statuses.available))
    if (random.chance(0.5)) edit(course.failure + 2, rewriteTexts(random, home, size))
    if (plan.end === 'sold') offered(course.failure + random.integer(8, 30))
  }
  steps.push(...ending())
  return steps

  function offered(day: number): void {
    edit(day, setStatus(random, statuses.underOffer))
    edit(day + random.integer(3, 9), setStatus(random, statuses.sstc))
  }

  function ending(): StoryStep[] {
    const atMs = moment(course.end)
    if (random.chance(0.15)) return [{ kind: 'leave', atMs, edit: unpublish }]
    const reason =
      plan.end === 'sold'
        ? removalReasons.soldByUs
        : random.pick([
            removalReasons.withdrawn,
            removalReasons.withdrawn,
            removalReasons.lostInstruction,
            removalReasons.soldByAnotherAgent,
          ])
    return [{ kind: 'remove', atMs, reason }]
  }
}

function courseOf(random: Random, end: SalePlan['end']): Course {
  const offer = random.integer(25, 115)
  const failure = random.chance(0.12) ? offer + random.integer(20, 60) : undefined
  if (end === 'unsold') return { offer, failure, end: (failure ?? offer) + random.integer(25, 130) }
  return { offer, failure, end: (failure ?? offer) + random.integer(50, 120) }
}

function saleTerms(random: Random, home: Home): SaleTerms {
  return {
    qualifier: random.pick([0, 0, 0, 2, 2, 3, 4, 5, 10]),
    leaseYears: home.leasehold ? random.integer(82, home.newHome ? 995 : 180) : null,
    groundRent: home.leasehold ? random.pick([0, 50, 100, 150, 250, 300]) : null,
    serviceCharge:
      home.leasehold && home.flat ? random.integer(60, 340) * 10 + random.pick([0, 4.5, 2.16]) : null,
  }
}

function between(random: Random, low: number, high: number): number {
  return low + random.fraction() * (high - low)
}

/** As agents write prices: in steps that grow with the price, and below 300,000 often "just under". */
function askingPrice(pounds: number): number {
  const step = pounds >= 1_000_000 ? 25_000 : pounds >= 250_000 ? 5_000 : pounds >= 120_000 ? 2_500 : 1_000
  const rounded = Math.round(pounds / step) * step
  return pounds < 300_000 && rounded % 10_000 === 0 ? rounded - 50 : rounded
}
