/**
 * Appends: plans on this node, from what it remembers or otherwise from what it reads, then makes one call that takes the counters,
 * checks that nothing the plan assumed has changed, numbers, stamps and inserts (docs/decisions/0005). No round trip happens while a
 * counter is held.
 */
import { previewOf } from '../../append/decide-append.ts'
import { StorageFailure } from '../../../sql/storage-errors.ts'
import { feedName } from '../../feed-key.ts'
import type { AppendBatch, AppendOutcome } from '../../append/append-batch.ts'
import type { StoreObserver } from '../../../sql/store-observer.ts'
import { callAppend } from './append-call.ts'
import { feedLists } from '../../../sql/postgres/array.ts'
import { isConnectionLoss } from '../../../sql/postgres/connection.ts'
import type { Database } from '../../../sql/postgres/connection.ts'
import type { Session, Statement } from '../../../sql/postgres/session.ts'
import { isOfStatement } from '../../../sql/postgres/failure.ts'
import { inKeyOrder } from './feed-state.ts'
import { unansweredCalls } from './unanswered-calls.ts'
import { keepAside } from '../kept-events.ts'
import type { UnansweredCallsOfAppend } from './unanswered-calls.ts'
import { planRead, planFromCache } from './make-plan.ts'
import type { PlanningContext } from './make-plan.ts'
import { settleOutcomes } from './plan-commit.ts'
import type { CommitPlan, FeedPlan, Stamped } from './plan-commit.ts'

export interface AppendContext extends PlanningContext {
  /** Tries to vouch for a history that is new to the store; true if publishing may continue (D13). */
  readonly vouch: () => Promise<boolean>
  readonly observer: Pick<StoreObserver, 'retried'>
}

export interface Appender {
  /** As in the port. */
  append(batches: readonly AppendBatch[], lockWaitMs?: number): Promise<readonly AppendOutcome[]>
  preview(batch: AppendBatch): Promise<AppendOutcome>
}

/**
 * The number of plans that other nodes may overtake before one is made with the counters held, so that no append can be overtaken for
 * ever.
 */
const freePlans = 3
/** After a lost connection the append is retried while the database restarts or another takes over. */
const retryDelaysMs = [100, 500, 1_500, 3_000]

const lockFeeds: Statement = {
  name: 'append-lock-feeds',
  text: 'SELECT lock_feeds($1::uuid[], $2::smallint[])',
}

/** Writes a record to the WAL that is never read: its commit waits until the standbys have everything that was written before. */
const awaitStandbys: Statement = {
  name: 'append-await-standbys',
  text: `SELECT CASE WHEN commits_are_replicated() THEN pg_logical_emit_message(true, 'property-events', '') END`,
}

export function appender(database: Database, context: AppendContext): Appender {
  const lostOf = unansweredCalls()
  return {
    async append(batches, lockWaitMs) {
      const lost = lostOf(batches)
      for (let tries = 0; ; tries += 1) {
        try {
          return lost.recognise(await appendOnce(database, context, batches, lost, lockWaitMs))
        } catch (error) {
          // A statement that the server has refused has written nothing.
          if (isOfStatement(error)) lost.answered()
          else lost.unanswered()
          const delayMs = retryDelaysMs[tries]
          if (delayMs === undefined || !isConnectionLoss(error)) throw error
          context.observer.retried('append', 'connection_lost')
          await new Promise((resolve) => setTimeout(resolve, delayMs))
        }
      }
    },
    preview: (batch) =>
      database.write(async (session) => previewed(await planRead(session, [batch], context))),
  }
}

/** On one connection, which may be lost: plans until a plan holds. */
async function appendOnce(
  database: Database,
  context: AppendContext,
  batches: readonly AppendBatch[],
  lost: UnansweredCallsOfAppend,
  lockWaitMs: number | undefined,
): Promise<readonly AppendOutcome[]> {
  const writeIn = (session: Session) => write(session, context, batches, lost, alone)
  let alone = false
  for (let plans = 1; ; plans += 1) {
    alone ||= plans > freePlans
    const answer = alone
      ? await database.transaction(async (session) => {
          await takeCounters(session, batches)
          return writeIn(session)
        }, lockWaitMs)
      : await database.write(writeIn, lockWaitMs)
    lost.answered()
    if (answer === 'keeps') alone = true
    else if (answer === 'unvouched') {
      if (!(await context.vouch())) return batches.map(() => ({ kind: 'epochRequired' }))
    } else if (answer !== 'stale') return answer
    else if (alone) throw new StorageFailure('storage_unavailable', new Error('overtaken under the lock'))
    else context.observer.retried('append', 'stale_plan')
  }
}

/** One batch within a transaction, which holds its counter from here on. */
export async function appendHeld(
  session: Session,
  batch: AppendBatch,
  context: AppendContext,
): Promise<AppendHeld> {
  await takeCounters(session, [batch])
  const made = await planRead(session, [batch], context)
  const feeds = feedsToWrite(made)
  if (feeds.length === 0) {
    const [outcome = { kind: 'unknownFeed' as const }] = made.outcomes
    if (outcome.kind !== 'stored') return { kind: 'refused', outcome }
    throw new StorageFailure('storage_unavailable', new Error('the event was not written'))
  }
  const answer = await callAppend(session, feeds, context)
  if (answer.kind === 'epochRequired') return { kind: 'refused', outcome: { kind: 'epochRequired' } }
  if (answer.kind === 'unvouched') return { kind: 'unvouched' }
  const stamped = answer.kind === 'appended' ? answer.feeds.get(feedName(batch.key)) : undefined
  if (stamped === undefined)
    throw new StorageFailure('storage_unavailable', new Error('overtaken under the lock'))
  return { kind: 'appended', stamped }
}

type AppendHeld =
  | { readonly kind: 'appended'; readonly stamped: Stamped }
  /** Nothing was written. */
  | { readonly kind: 'refused'; readonly outcome: Exclude<AppendOutcome, { kind: 'stored' }> }
  | { readonly kind: 'unvouched' }

/** The feeds' counters, which this transaction holds from here on. */
export async function takeCounters(
  session: Session,
  batches: readonly Pick<AppendBatch, 'key'>[],
): Promise<void> {
  const keys = inKeyOrder(batches.map(({ key }) => key))
  await session.query(lockFeeds, feedLists(keys))
}

/** One plan, and the call that checks and writes it. */
async function write(
  session: Session,
  context: AppendContext,
  batches: readonly AppendBatch[],
  lost: UnansweredCallsOfAppend,
  /** Within a transaction that holds the counters. */
  alone: boolean,
): Promise<readonly AppendOutcome[] | 'stale' | 'unvouched' | 'keeps'> {
  const { feedStates, historyOf } = context
  // Under the counters, what is read is current; what the cache of feed states has may be older.
  const known = alone ? undefined : await planFromCache(session, batches, context)
  const made = known ?? (await planRead(session, batches, context))
  const feeds = feedsToWrite(made)
  if (feeds.length === 0) {
    // What a crash has left can be read before a standby has it, and a repeat acknowledges it (P7).
    if (made.outcomes.some(({ kind }) => kind === 'stored')) await session.query(awaitStandbys, [])
    return made.outcomes
  }
  // What is kept of restricted contacts is put aside in the same commit. This is rare, so it may take more calls.
  const keeps = feeds.some(({ rows }) => rows.some(({ event }) => event.kept !== undefined))
  if (keeps && !alone) return 'keeps'
  lost.sending(feeds)
  const answer = await callAppend(session, feeds, context)
  if (answer.kind !== 'appended') feedStates.forget(batches.map(({ key }) => key))
  if (answer.kind === 'stale' || answer.kind === 'unvouched') return answer.kind
  if (answer.kind === 'epochRequired') return refuseWriting(batches, made, feeds)
  if (keeps) await keepAside(session, feeds, (key) => answer.feeds.get(feedName(key)))
  feedStates.record(feeds, answer.feeds, historyOf(session), !alone)
  return settleOutcomes(batches, made.outcomes, answer.feeds)
}

/** What `append` would return for the one batch of a plan. */
function previewed({ outcomes: [outcome], feeds: [feed] }: CommitPlan): AppendOutcome {
  if (outcome === undefined || feed === undefined) return outcome ?? { kind: 'unknownFeed' }
  return previewOf({ outcome, rows: feed.rows, reserved: feed.reserved })
}

function feedsToWrite(made: CommitPlan): readonly FeedPlan[] {
  const writing = made.feeds.filter(({ rows, reserved }) => rows.length + reserved.length > 0)
  const byName = new Map(writing.map((feed) => [feedName(feed.reading.key), feed]))
  return inKeyOrder(writing.map(({ reading }) => reading.key)).flatMap(
    (key) => byName.get(feedName(key)) ?? [],
  )
}

/** Another node has found meanwhile that the store lacks numbers. */
function refuseWriting(
  batches: readonly AppendBatch[],
  made: CommitPlan,
  feeds: readonly FeedPlan[],
): readonly AppendOutcome[] {
  const writing = new Set(feeds.map(({ reading }) => feedName(reading.key)))
  return batches.map(({ key }, index): AppendOutcome => {
    const outcome = made.outcomes[index]
    return outcome === undefined || writing.has(feedName(key)) ? { kind: 'epochRequired' } : outcome
  })
}
