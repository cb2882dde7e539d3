/** Carries out retention in the background (D17, docs/decisions/0034): once a day for each feed, in steps, on one node at a time. */
import type { StorageEngine } from '../../store/storage.ts'
import type { RetentionStore } from './retention.ts'
import { isFeedRefusal } from '../../events/feed.ts'
import type { TaskReport } from '../../runtime/background-task.ts'
import { inSteps, pause, startWorker } from '../../runtime/worker-loop.ts'
import type { Worker } from '../../runtime/worker-loop.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { Head } from '../../events/event-log.ts'
import { feedName } from '../../events/feed-key.ts'
import { expireContacts } from '../contact-expiry/worker.ts'
import { beginningOfDay, retainedFeeds, tenantRules } from './rules.ts'
import type { RetainedFeed, RetentionDefaults } from './rules.ts'
import { isolateFailure } from '../../sql/isolate-failure.ts'

/** How often it checks whether a day has begun, or a rule has changed: one read of a small table. */
const checkEveryMs = 60_000
/** Retention is not urgent, and takes at most a quarter of a writer's time. */
const pausePerStep = 3
const mostEvents = 500

type Storage = Pick<StorageEngine, 'erasures' | 'events' | 'expiry' | 'retention' | 'tenants'>

interface RetainingParts {
  readonly storage: Storage
  readonly nodeId: string
  /** For tenants without a rule of their own. */
  readonly defaults: RetentionDefaults
  /** As for erasures: nothing that was read from feeds in another state is kept any more. */
  readonly compare: (headOf: (key: FeedKey) => Promise<Head | undefined>) => Promise<void>
  /** Called with failures, which are retried. */
  readonly report: TaskReport
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** For tests; a minute if left out. */
  readonly everyMs?: number
}

/** Looks at once and then every minute. Any node continues what a crash has interrupted. */
export function carryOutRetention(parts: RetainingParts): Worker {
  const { report, everyMs = checkEveryMs } = parts
  const done = new Map<string, string>()
  return startWorker({ task: 'retain', report, retryMs: everyMs }, async (signal) => ({
    waitMs: everyMs,
    hasFailed: !(await look(parts, done, signal)),
  }))
}

/**
 * False: it failed for some feed or tenant. `done`: by feed, the span it was last finished for in this process; asking again would cost a
 * probe and find nothing.
 */
async function look(parts: RetainingParts, done: Map<string, string>, signal: AbortSignal): Promise<boolean> {
  const { storage, nodeId, defaults, compare, report, clock = Date.now } = parts
  const nowMs = clock()
  let feedsDone = 0
  let isWhole = true
  for (const { span, days } of await retainedFeeds(storage, defaults, nowMs)) {
    const [name, state] = [feedName(span.key), `${beginningOfDay(nowMs)} ${days}`]
    if (signal.aborted) return isWhole
    if (done.get(name) === state) continue
    const thinning = thinFeed({ retention: storage.retention, span, nodeId, signal, pausePerStep })
    const thinned = await isolateFailure(report, 'retain', span.key, thinning)
    if (thinned === 'broken') isWhole = false
    else if (thinned.end === 'busy' || thinned.end === 'stopped') break
    else if (thinned.end === 'finished') {
      done.set(name, state)
      feedsDone += 1
    }
  }
  if (feedsDone > 0) await storage.retention.endTurn(nodeId)
  const areExpired = await expire(parts, nowMs, done, signal)
  // What another node has thinned may still be in this one's pages, if nobody has read the feed since.
  if (feedsDone > 0) await compare((key) => storage.events.head(key))
  return isWhole && areExpired
}

/**
 * Contacts that have not changed for a long time. If two nodes do this at the same time, nothing is done twice. False: it failed for some
 * tenant.
 */
async function expire(
  parts: RetainingParts,
  nowMs: number,
  done: Map<string, string>,
  signal: AbortSignal,
): Promise<boolean> {
  const { storage, defaults } = parts
  let isWhole = true
  for (const { tenantId, days: daysOf } of await tenantRules(storage, defaults)) {
    const days = daysOf('expire-contacts')
    const [name, state] = [`expire ${tenantId}`, `${beginningOfDay(nowMs)} ${days}`]
    if (days === 0 || signal.aborted || done.get(name) === state) continue
    const rest = (tookMs: number): Promise<void> => pause(tookMs * pausePerStep, signal)
    const expiring = expireContacts({ storage, tenantId, days, nowMs, signal, rest })
    const expired = await isolateFailure(parts.report, 'retain', { tenantId }, expiring)
    if (expired === 'broken') isWhole = false
    else if (expired) done.set(name, state)
  }
  return isWhole
}

interface ThinFeedParts {
  readonly retention: RetentionStore
  readonly span: RetainedFeed['span']
  readonly nodeId: string
  readonly signal: AbortSignal
  /** Left out: no pause. */
  readonly pausePerStep?: number
  readonly onThinned?: (events: number) => void
}

interface ThinnedFeed {
  readonly events: number
  /** `busy`: another node is working on it; `later`: the feed takes no change now; `stopped`: by the signal. */
  readonly end: 'finished' | 'busy' | 'later' | 'stopped'
}

/** All steps of a feed. */
export async function thinFeed({
  retention,
  span,
  nodeId,
  signal,
  pausePerStep: pauses = 0,
  onThinned,
}: ThinFeedParts): Promise<ThinnedFeed> {
  let events = 0
  let end: ThinnedFeed['end'] = 'stopped'
  await inSteps({ first: 100, fewest: 10, most: mostEvents, pausePerStep: pauses }, signal, async (limit) => {
    const outcome = await retention.thin(span, limit, nodeId)
    if (outcome.kind !== 'thinned') {
      end = isFeedRefusal(outcome) ? 'later' : outcome.kind
      return 'done'
    }
    events += outcome.events
    if (outcome.events > 0) onThinned?.(events)
    return 'more'
  })
  return { events, end }
}

/** How many events would lose their payloads. Nothing is changed. */
export async function countFeed(retention: RetentionStore, { span }: RetainedFeed): Promise<number> {
  let events = 0
  for (let found = await retention.countDue(span, mostEvents); found !== undefined;) {
    events += found.events
    found = await retention.countDue(span, mostEvents, found.progress)
  }
  return events
}
