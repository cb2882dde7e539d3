/** Keeps the market of the sandbox moving while test keys are in use. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sandboxTenantId } from '@property-events/protocol'
import type { Publisher, StorageEngine, Tenant } from '@property-events/server'
import { uuidV5 } from '@property-events/server/plain'
import type { PropertyBody } from './demo-data/market-event.ts'
import { makeHome } from './demo-data/home.ts'
import { lettingStory } from './demo-data/letting-story.ts'
import { defaultSize } from './demo-data/listing-text.ts'
import { marketData } from './demo-data/load-data.ts'
import { randomOf } from './demo-data/random.ts'
import { saleStory } from './demo-data/sale-story.ts'
import { type PropertyStory, updatesOf } from './demo-data/story.ts'
import { marketTenants } from './demo-data/tenants.ts'

/** Nothing moves if no test key was used for this long: an unused sandbox takes no space. */
const idleMs = 3_600_000
/** How often the last uses are checked; they are written twice a minute. */
const pollIntervalMs = 60_000
/** With more events than this the market stops: some ten weeks of use around the clock, and less than 100 MB. */
const mostEvents = 200_000

const key = { tenantId: sandboxTenantId, feed: 'property' } as const

interface SandboxParts {
  readonly storage: StorageEngine
  readonly publisher: Publisher
  /** The beginning of its photographs' addresses. */
  readonly mediaUrl: string
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  /** Milliseconds since 1970; for tests. */
  readonly clock?: () => number
  /** Resolves after this many milliseconds, or when the signal is given; for tests. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Fills the sandbox, and then publishes the change of each step. All nodes try to: the id of an event is derived from its step and its
 * content depends on nothing else, so that each is stored once, by whichever node is first. Resolves with the signal. Never rejects.
 */
export async function runSandbox(parts: SandboxParts): Promise<void> {
  const { mediaUrl, signal, say, clock = Date.now, pause = pauseByTimer } = parts
  let isFilled = false
  let isWorking = true
  let wanted = { atMs: -Infinity, isWanted: false }
  while (!signal.aborted) {
    try {
      if (!isFilled) await fill(parts)
      isFilled = true
      const nowMs = clock()
      if (nowMs - wanted.atMs >= pollIntervalMs)
        wanted = { atMs: nowMs, isWanted: await isInUse(parts, nowMs) }
      const step = sandboxStepOf(nowMs)
      const body = wanted.isWanted ? sandboxChange(step, mediaUrl) : undefined
      if (body !== undefined) await publish(parts, `step/${step}`, [body])
      isWorking = true
    } catch (error) {
      if (isWorking && !signal.aborted)
        say(`The sandbox could not be changed: ${error instanceof Error ? error.message : String(error)}`)
      isWorking = false
    }
    await pause(sandboxStepMs - (clock() % sandboxStepMs), signal)
  }
}

const pauseByTimer = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined)

/** As of the moment the tenant was created, so that several nodes that fill it at the same time publish the same. */
async function fill(parts: SandboxParts): Promise<void> {
  const { createdMs } = await sandboxTenant(parts.storage)
  if (((await parts.storage.events.head(key))?.position ?? 0) > 0) return
  await publish(parts, 'start', sandboxStart(sandboxStepOf(createdMs), parts.mediaUrl))
}

async function isInUse({ storage }: SandboxParts, nowMs: number): Promise<boolean> {
  const keys = await storage.keys.keys()
  const isUsed = keys.some(
    ({ grants, lastUsedMs = -Infinity }) =>
      nowMs - lastUsedMs < idleMs && grants.some(({ tenantId }) => tenantId === sandboxTenantId),
  )
  return isUsed && ((await storage.events.head(key))?.position ?? 0) < mostEvents
}

/** A refused change, such as the removal of a home that was never listed, is skipped. */
async function publish(
  { publisher }: SandboxParts,
  name: string,
  bodies: readonly PropertyBody[],
): Promise<void> {
  const events = bodies.map((body, index) => ({ id: uuidV5(sandboxTenantId, `${name}/${index}`), ...body }))
  await publisher.publish({
    key,
    body: Buffer.from(JSON.stringify(events)),
    format: 'json',
    dryRun: false,
    unchanged: 'skip',
  })
}

/** Superseded events of the sandbox lose their payloads after a day: nobody reads its history. */
const retentionDays = 1

/** Creates it if there is none. Safe from many processes at once. */
export async function sandboxTenant(storage: StorageEngine): Promise<Tenant> {
  const made = {
    tenantId: sandboxTenantId,
    name: 'Sandbox (test keys)',
    createdMs: Date.now(),
    suspended: false,
  }
  const outcome = await storage.tenants.createTenant(made, 'service', { sameName: 'allowed' })
  if (outcome === 'created') {
    await storage.retention.setRule(sandboxTenantId, 'retain-properties', retentionDays, 'service')
    return made
  }
  const tenants = await storage.tenants.tenants()
  return tenants.find(({ tenantId }) => tenantId === sandboxTenantId) ?? made
}

/**
 * The market of the sandbox that test keys open. It depends only on the time: each step of half a minute has one change of one home,
 * which is the same on every node. A fixed number of homes comes to the market, is edited, reduced and removed, and comes back.
 */
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
  let index = 0
  const clock = (): number => timeOf(home, cycle * turnsInCycle + index)
  for (const { body } of updatesOf(storyOf(home, cycle, clock(), mediaUrl), clock)) {
    if (index === place) return body
    index += 1
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
