import type { Home } from './home.ts'
import type { Area } from './load-data.ts'
import {
  type Edit,
  type LettingTerms,
  moveBranch,
  newListing,
  replacePhotographs,
  rewriteTexts,
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

interface LettingPlan {
  readonly startMs: number
  /** No new let begins after this. */
  readonly untilMs: number
  /** What the home is worth, pounds. */
  readonly value: number
}

/** The rent of a year as a share of the home's value. */
const yields: Readonly<Record<Area, number>> = {
  'london-sw19': 0.042,
  'greater-manchester': 0.052,
  newcastle: 0.056,
}

/** From 1 June 2019 a deposit in England may not exceed five weeks' rent. */
const depositCapMs = Date.UTC(2019, 5, 1)

/**
 * A home that is let again and again: listed, let agreed, removed; a year or more later listed at a higher rent, or
 * shown for some days while its tenants renew. Now and then the landlord withdraws it and the story ends.
 */
export function lettingStory(random: Random, home: Home, size: ListingSize, plan: LettingPlan): StoryStep[] {
  const steps: StoryStep[] = []
  const weekly = home.tenant.area === 'london-sw19' && random.chance(0.4)
  let yearly = plan.value * yields[home.tenant.area] * (0.9 + random.fraction() * 0.2)
  let listedMs = plan.startMs
  while (listedMs <= plan.untilMs) {
    const months = random.pick([6, 12, 12, 12, 18, 24])
    const annual = yearly
    const termsAt = (atMs: number) => lettingTerms(random, annual, weekly, atMs)
    const lettable = oneLet(random, home, size, termsAt, rentOf(yearly, weekly), listedMs)
    steps.push(...lettable.steps)
    if (lettable.withdrawn) break
    // Shown again two months before the term runs out.
    listedMs += Math.max(120, months * 30 - 60 + random.integer(0, 40)) * dayMs
    yearly *= 1 + random.integer(0, 6) / 100
  }
  return steps
}

function oneLet(
  random: Random,
  home: Home,
  size: ListingSize,
  termsAt: (atMs: number) => LettingTerms,
  rent: number,
  listedMs: number,
): { readonly steps: StoryStep[]; readonly withdrawn: boolean } {
  const moment = (day: number) => openingHours(random, listedMs + day * dayMs)
  const list = (atMs: number) =>
    newListing(random, home, size, rent, { category: 'lettings', letting: termsAt(atMs) }, atMs)
  const steps: StoryStep[] = [{ kind: 'list', atMs: moment(0), list }]
  const edit = (day: number, change: Edit) => steps.push({ kind: 'edit', atMs: moment(day), edit: change })
  const leave = (day: number, change: Edit) => steps.push({ kind: 'leave', atMs: moment(day), edit: change })
  const withdrawn = random.chance(0.07)
  const agreed = random.integer(8, 40)

  if (random.chance(0.6)) edit(random.integer(1, 3), replacePhotographs(random, home, size))
  if (random.chance(0.35)) edit(random.integer(4, 7), rewriteTexts(random, home, size))
  if (agreed > 25) edit(agreed - 6, setPrice(rent - (rent > 1000 ? 25 : 5)))
  if (random.chance(0.03)) leave(agreed - 2, moveBranch(random, home))
  if (withdrawn) {
    steps.push({ kind: 'remove', atMs: moment(agreed + 10), reason: removalReasons.withdrawn })
    return { steps, withdrawn }
  }
  edit(agreed, setStatus(random, statuses.letAgreed))
  const end = agreed + random.integer(5, 21)
  if (random.chance(0.15)) leave(end, unpublish)
  else steps.push({ kind: 'remove', atMs: moment(end), reason: removalReasons.letByUs })
  return { steps, withdrawn }
}

/** Pounds per payment: weekly and small rents in fives, others in 25s. */
function rentOf(yearly: number, weekly: boolean): number {
  const rent = yearly / (weekly ? 52 : 12)
  const step = weekly || rent < 1000 ? 5 : 25
  return Math.max(step, Math.round(rent / step) * step)
}

function lettingTerms(random: Random, yearly: number, weekly: boolean, listedMs: number): LettingTerms {
  const rent = rentOf(yearly, weekly)
  const weeklyRent = weekly ? rent : (rent * 12) / 52
  const weeks = listedMs < depositCapMs ? 6 : 5
  return {
    rentFrequency: weekly ? 52 : 12,
    deposit: Math.floor(weeklyRent * weeks * 100) / 100,
    availableMs: listedMs + random.integer(7, 60) * dayMs,
    furnishedType: random.pick([0, 1, 2, 2, 4]),
    depositReplacementScheme: random.chance(0.2),
    student: random.chance(0.08),
  }
}
