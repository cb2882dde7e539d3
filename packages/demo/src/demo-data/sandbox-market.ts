/**
 * The market of the sandbox that test keys open. It depends only on the time: each step of half a minute has one change of one home,
 * which is the same on every node. A fixed number of homes comes to the market, is edited, reduced and removed, and comes back.
 */
import { uuidV5 } from '@property-events/server/plain'
import { makeHome } from './home.ts'
import { lettingStory } from './letting-story.ts'
import { defaultSize } from './listing-text.ts'
import { marketData } from './load-data.ts'
import type { PropertyBody } from './market-event.ts'
import { randomOf } from './random.ts'
import { saleStory } from './sale-story.ts'
import { type PropertyStory, updatesOf } from './story.ts'
import { marketTenants } from './tenants.ts'

export const sandboxStepMs = 30_000
/** About half of them are on the market at a time. */
export const sandboxHomes = 96
/** How many turns a home has from one listing to the next. After a shorter story the home is off the market; a longer story is cut. */
const turnsInCycle = 8

/** Homes take turns in the order of multiples of 37, which reaches all of them; 13 is its inverse. */
const [stride, inverse] = [37, 13]

/** Names the homes of the sandbox; a random UUID. */
const namespace = 'c0a1b7f4-3d52-4e0b-8a16-7f24e95d1c83'

/** Number of the step that a moment lies in. */
export function sandboxStepOf(ms: number): number {
  return Math.floor(ms / sandboxStepMs)
}

/** What changes in a step; `undefined`: nothing, because the home whose turn it is stays off the market. */
export function sandboxChange(step: number, mediaUrl: string): PropertyBody | undefined {
  const home = (step * stride) % sandboxHomes
  return stateOf(home, turnAt(home, step), mediaUrl)
}

/** The homes that are on the market at a step, each as it was last changed. */
export function sandboxStart(step: number, mediaUrl: string): readonly PropertyBody[] {
  return Array.from({ length: sandboxHomes }, (_, home) =>
    stateOf(home, turnAt(home, step), mediaUrl),
  ).flatMap((body) => (isListed(body) ? [body] : []))
}

function isListed(body: PropertyBody | undefined): body is PropertyBody {
  return body !== undefined && 'payload' in body && body.payload.published === true
}

function stateOf(home: number, turn: number, mediaUrl: string): PropertyBody | undefined {
  const cycle = Math.floor(turn / turnsInCycle)
  const place = turn - cycle * turnsInCycle
  let told = 0
  const clock = (): number => timeOf(home, cycle * turnsInCycle + told)
  for (const { body } of updatesOf(storyOf(home, cycle, clock(), mediaUrl), clock)) {
    if (told === place) return body
    told += 1
  }
  return undefined
}

/** The last turn of the home that has begun by the step. Homes begin their cycles in different turns. */
function turnAt(home: number, step: number): number {
  return Math.floor((step - placeOf(home)) / sandboxHomes) + home
}

/** When the home has that turn. */
function timeOf(home: number, turn: number): number {
  return ((turn - home) * sandboxHomes + placeOf(home)) * sandboxStepMs
}

/** The place of the home's step among those in which each home has one turn. */
function placeOf(home: number): number {
  return (inverse * home) % sandboxHomes
}

function storyOf(number: number, cycle: number, listedMs: number, mediaUrl: string): PropertyStory {
  const facts = randomOf(`sandbox/${number}`)
  const [{ area }] = marketTenants
  const sold = facts.pick(marketData().homes.filter((candidate) => candidate.area === area))
  const home = makeHome(facts, sold, uuidV5(namespace, String(number)), mediaUrl)
  const random = randomOf(`sandbox/${number}/${cycle}`)
  const value = sold.sales.at(-1)?.pricePaid ?? 0
  const isLetting = number % 3 === 0 && home.bedrooms <= 4
  const steps = isLetting
    ? lettingStory(random, home, defaultSize, { startMs: listedMs, untilMs: listedMs, value })
    : saleStory(random, home, defaultSize, { end: 'unsold', listedMs, value })
  return { home, category: isLetting ? 'lettings' : 'sales', bare: false, steps }
}
