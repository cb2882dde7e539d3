/**
 * How long each consumer takes from the publication of a listing until it reports that it shows it, and which listings it has not shown
 * (PROTOCOL §14.6). Read in bounded steps from the log of results and an index of publications, at most once a minute for all who ask.
 */
import type { Consumer } from '@property-events/protocol/wire'
import { timeOf } from '../http/time-of.ts'
import type { FeedKey } from '../events/feed-key.ts'
import { partsOfView } from '../events/branches/branch-view.ts'
import type { Turn } from '../events/listings.ts'
import { BoundedMap } from '../runtime/bounded-map.ts'
import { keptFor } from '../runtime/kept-for.ts'
import { yieldForStep } from '../runtime/yield-in-steps.ts'
import { consumerKey, consumersOf } from './consumers-of-feed.ts'
import type { ConsumersStore, FeedConsumer } from './consumers-of-feed.ts'
import type { FirstLive, Listing } from './consumer.ts'

export interface TimeToLive {
  /** Listings that were published since then are counted. */
  readonly sinceMs: number
  /** How many of them the consumer has reported live. */
  readonly live: number
  /** Half of these took no longer, and 95 of 100; `undefined`: there is none. */
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
  /** Those that are still published and not reported live, and when the oldest was published. */
  readonly notLiveYet: number
  readonly oldestMs: number | undefined
  /** Those that were removed before they were reported live. */
  readonly neverLive: number
}

export interface TimesQuery {
  readonly key: FeedKey
  /** Only listings in these branches, and consumers that may read them; `undefined`: all. */
  readonly branches: readonly string[] | undefined
}

/** By `consumerKey`; those that have reported nothing about these listings are not in it. */
export type TimesToLive = ReadonlyMap<string, TimeToLive>

/** As answers have it. */
export function timeToLiveAnswer(found: TimeToLive | undefined): Consumer['timeToLive'] {
  if (found === undefined) return null
  const { sinceMs, live, p50Ms, p95Ms, notLiveYet, oldestMs, neverLive } = found
  const seconds = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms / 1_000))
  return {
    since: timeOf(sinceMs),
    live,
    p50Seconds: seconds(p50Ms),
    p95Seconds: seconds(p95Ms),
    notLiveYet,
    oldestNotLiveAt: timeOf(oldestMs),
    neverLive,
  }
}

type Store = Omit<ConsumersStore, 'settings'>

interface TimesOptions {
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** How many days changes of results are kept: before that, nothing is known. */
  readonly resultDays: number
  /** Publications and removals that are read at most; the listings before them are not counted. Default: 20,000. */
  readonly mostTurns?: number | undefined
  /** How many are read in a step. Default: 100: some milliseconds. */
  readonly turnsPerStep?: number | undefined
}

const keptMs = 60_000
const keptAtMost = 1_000
const windowDays = 30
const dayMs = 86_400_000
const ticksPerMs = 10_000n

export function createTimesToLive(
  store: Store,
  options: TimesOptions,
): (query: TimesQuery) => Promise<TimesToLive> {
  const { clock } = options
  const kept = new BoundedMap<string, () => Promise<TimesToLive>>(keptAtMost)
  return (query) => {
    if (query.key.feed !== 'property') return Promise.resolve(new Map())
    const name = JSON.stringify([query.key.tenantId, query.branches])
    const find = kept.get(name) ?? keptFor(keptMs, clock, () => timesToLive(store, query, options))
    kept.set(name, find)
    return find()
  }
}

async function timesToLive(
  store: Store,
  { key, branches }: TimesQuery,
  { clock, resultDays, mostTurns = 20_000, turnsPerStep = 100 }: TimesOptions,
): Promise<TimesToLive> {
  const nowMs = clock()
  const consumers = await consumersOf(store, { key, keyId: undefined, branches, nowMs })
  const counts = consumers.filter(({ keyEnd }) => keyEnd === undefined).map(countOf)
  const fromMs = nowMs - Math.min(windowDays, resultDays) * dayMs
  const from = await store.events.tally({ key, view: 'all', times: [BigInt(fromMs) * ticksPerMs] })
  const [after = 0] = from?.before ?? []
  const { tenantId } = key
  const fold = listingsBackwards()
  let sinceMs = fromMs
  let before = (from?.total ?? 0) + 1
  for (let left = mostTurns; counts.length > 0;) {
    const limit = Math.min(left, turnsPerStep)
    const turns = await store.consumers.turns({ tenantId, after, before, limit })
    const listings = turns.flatMap((turn) => fold(turn) ?? [])
    const seen = listings.filter(({ branch }) => branches === undefined || isIn(branches, branch))
    const reports = seen.length === 0 ? [] : await store.consumers.firstLive(tenantId, seen)
    const reportsOf = Map.groupBy(reports, ({ listing }) => listing)
    for (const [at, listing] of seen.entries()) {
      const said = new Map((reportsOf.get(at) ?? []).map((one) => [consumerKey(one), one]))
      for (const count of counts) count.add(listing, said.get(count.name))
    }
    left -= turns.length
    const last = turns.at(-1)
    if (last === undefined || turns.length < limit) break
    before = last.position
    if (left <= 0) {
      sinceMs = last.createdMs
      break
    }
    await yieldForStep()
  }
  return new Map(counts.flatMap((count) => count.result(sinceMs)))
}

/** From events, the newest first, to the listings that they began. What is erased is left out: what was said of it is gone. */
function listingsBackwards(): (turn: Turn) => Listing | undefined {
  const removals = new Map<string, number>()
  const erased = new Set<string>()
  return ({ kind, subjectId, sequenceNumber, isErased, createdMs, category, branch }) => {
    if (kind === 'removed') {
      removals.set(subjectId, sequenceNumber)
      if (isErased) erased.add(subjectId)
      return undefined
    }
    if (kind === 'stays') return undefined
    const removed = removals.get(subjectId)
    removals.delete(subjectId)
    if (isErased || erased.has(subjectId)) return undefined
    return { subjectId, sequenceNumber, removed, publishedMs: createdMs, category, branch }
  }
}

function isIn(branches: readonly string[], branch: string | null): boolean {
  return branch !== null && branches.includes(branch)
}

interface Count {
  readonly name: string
  add(listing: Listing, said: FirstLive | undefined): void
  /** With its name; empty if it has reported nothing. */
  result(sinceMs: number): readonly (readonly [string, TimeToLive])[]
}

/** What may not be read, is not read, or was published before the key was created does not count. */
function countOf(consumer: FeedConsumer): Count {
  const { branches, createdMs } = consumer
  const categories = categoriesRead(consumer)
  const tookMs: number[] = []
  let [reported, notLiveYet, neverLive] = [false, 0, 0]
  let oldestMs: number | undefined
  const name = consumerKey(consumer)
  return {
    name,
    add({ publishedMs, removed, branch, category }, said) {
      if (publishedMs < createdMs || (branches !== undefined && !isIn(branches, branch))) return
      if (categories !== undefined && !categories.has(category ?? '')) return
      if (said !== undefined) reported = true
      if (said?.liveMs !== undefined) tookMs.push(Math.max(0, said.liveMs - publishedMs))
      // It is live, and the log does not say since when.
      else if (said?.isLive === true) return
      else if (removed !== undefined) neverLive += 1
      else {
        notLiveYet += 1
        oldestMs = Math.min(oldestMs ?? publishedMs, publishedMs)
      }
    },
    result(sinceMs) {
      if (!reported) return []
      const sorted = tookMs.toSorted((a, b) => a - b)
      const [p50Ms, p95Ms] = [50, 95].map((percent) => sorted[Math.ceil((percent / 100) * sorted.length) - 1])
      return [[name, { sinceMs, live: sorted.length, p50Ms, p95Ms, notLiveYet, oldestMs, neverLive }]]
    },
  }
}

/** `undefined`: all, as far as that is known. */
function categoriesRead({ readings }: FeedConsumer): ReadonlySet<string> | undefined {
  const read = new Set<string>()
  for (const { view } of readings) {
    if (view === 'single') continue
    const { category } = partsOfView(view)
    if (category === undefined) return undefined
    read.add(category)
  }
  return read.size === 0 ? undefined : read
}
