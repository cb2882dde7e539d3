/**
 * Appending: plan on this node, from what it remembers or else from what it reads, then one call that takes the counters,
 * checks that nothing the plan was made from has changed, numbers, stamps and inserts (docs/decisions/0005). No round
 * trip happens while a counter is held.
 */
import type { Ticks } from '@property-events/protocol'
import { previewOf } from '../decide-append.ts'
import { StorageFailure, feedName } from '../storage.ts'
import type { AppendBatch, AppendOutcome } from '../storage.ts'
import type { AppendAnswer } from './append-answer.ts'
import { callAppend } from './append-call.ts'
import type { CallContext } from './append-call.ts'
import { smallints, uuids } from './array.ts'
import { isConnectionLoss } from './connection.ts'
import type { Database, Session, Statement } from './connection.ts'
import { isOfStatement } from './failure.ts'
import { feedNumbers } from './feed-number.ts'
import { inKeyOrder, readFeeds, readWanted } from './feed-reading.ts'
import { lostCalls } from './lost-calls.ts'
import type { LostCallsOfAppend } from './lost-calls.ts'
import { planCommit, settleOutcomes } from './plan-commit.ts'
import type { CommitPlan, FeedPlan, PlanContext } from './plan-commit.ts'
import type { RememberedFeeds } from './remembered-feeds.ts'

export interface AppendContext {
  readonly catalogue: PlanContext['catalogue']
  readonly clockToleranceTicks: Ticks | undefined
  /** In place of the database's clock. For tests. */
  readonly now: () => Ticks | undefined
  readonly remembered: RememberedFeeds
  /** The history that a connection leads to (D13). */
  readonly historyOf: (session: Session) => string
  /** Tries to stand up for a history that is new to the store; true when publishing may go on (D13). */
  readonly vouch: () => Promise<boolean>
}

export interface Appender {
  /** As in the port. */
  append(batches: readonly AppendBatch[], lockWaitMs?: number): Promise<readonly AppendOutcome[]>
  preview(batch: AppendBatch): Promise<AppendOutcome>
}

/** Plans that other nodes overtake before one is made with the counters in hand, so that none can be overtaken for ever. */
const freePlans = 3
/** A lost connection is followed by a new try while the database restarts or another takes over. */
const retryDelaysMs = [100, 500, 1_500, 3_000]

const lockFeeds: Statement = {
  name: 'append-lock-feeds',
  text: 'SELECT lock_feeds($1::uuid[], $2::smallint[])',
}

/** Writes a line of the log that nobody reads: its commit waits for the standbys to have all that was written before. */
const awaitStandbys: Statement = {
  name: 'append-await-standbys',
  text: `SELECT CASE WHEN commits_are_replicated() THEN pg_logical_emit_message(true, 'property-events', '') END`,
}

export function appender(database: Database, context: AppendContext): Appender {
  const { remembered, historyOf } = context
  const lostOf = lostCalls()

  /** A plan from what is remembered, if the append will check all it was made from: nothing is answered unchecked. */
  const planRemembered = async (
    session: Session,
    batches: readonly AppendBatch[],
  ): Promise<CommitPlan | undefined> => {
    const reading = remembered.reading(batches, historyOf(session))
    if (reading === undefined) return undefined
    const { catalogue, clockToleranceTicks } = context
    const planOnce = () => planCommit(batches, reading, { catalogue, now: reading.now, clockToleranceTicks })
    let made = planOnce()
    if (!isChecked(made)) return undefined
    if (made.wanted.length > 0) {
      // Events whose payloads others go on from (D23, D26). They change only with the feed's revision, which is checked too.
      await readWanted(session, reading, made.wanted)
      made = planOnce()
    }
    return made.wanted.length === 0 ? made : undefined
  }

  const plan = async (
    session: Session,
    batches: readonly AppendBatch[],
    mayReadAnew = true,
  ): Promise<CommitPlan> => {
    const reading = await readFeeds(session, batches)
    const { catalogue, clockToleranceTicks } = context
    const now = context.now() ?? reading.now
    const planOnce = () => planCommit(batches, reading, { catalogue, now, clockToleranceTicks })
    let made = planOnce()
    if (made.wanted.length === 0) return made
    while (made.wanted.length > 0) {
      await readWanted(session, reading, made.wanted)
      made = planOnce()
    }
    // Another node may have stored the same request between the two looks: its id was still free in the first, and the
    // one derived from it taken in the second. Seen anew it is a repeat.
    const isRefused = made.outcomes.some(({ kind }) => kind === 'idConflict')
    return isRefused && mayReadAnew ? await plan(session, batches, false) : made
  }

  const write = async (
    session: Session,
    batches: readonly AppendBatch[],
    lost: LostCallsOfAppend,
  ): Promise<readonly AppendOutcome[] | 'stale' | 'unvouched'> => {
    const made = (await planRemembered(session, batches)) ?? (await plan(session, batches))
    const feeds = feedsToWrite(made)
    if (feeds.length === 0) {
      // What a crash has left behind can be read before a standby has it, and a repeat acknowledges it (P7).
      if (made.outcomes.some(({ kind }) => kind === 'stored')) await session.query(awaitStandbys, [])
      return made.outcomes
    }
    const call: CallContext = {
      now: context.now(),
      floor: undefined,
      clockToleranceTicks: context.clockToleranceTicks,
    }
    lost.sending(feeds)
    const answer: AppendAnswer = await callAppend(session, feeds, call)
    if (answer.kind !== 'appended') remembered.forget(batches.map(({ key }) => key))
    if (answer.kind === 'stale' || answer.kind === 'unvouched') return answer.kind
    if (answer.kind === 'epochRequired') return refuseWriting(batches, made, feeds)
    remembered.note(feeds, answer.feeds, historyOf(session))
    return settleOutcomes(batches, made.outcomes, answer.feeds)
  }

  const tryAppend = async (
    batches: readonly AppendBatch[],
    lost: LostCallsOfAppend,
    lockWaitMs: number | undefined,
  ): Promise<readonly AppendOutcome[]> => {
    for (let plans = 1; ; plans += 1) {
      const alone = plans > freePlans
      const answer = alone
        ? await database.transaction(async (session) => {
            const keys = inKeyOrder(batches.map((batch) => batch.key))
            const tenants = uuids(keys.map(({ tenantId }) => tenantId))
            await session.query(lockFeeds, [tenants, smallints(keys.map(({ feed }) => feedNumbers[feed]))])
            return write(session, batches, lost)
          }, lockWaitMs)
        : await database.write((session) => write(session, batches, lost), lockWaitMs)
      lost.answered()
      if (answer === 'unvouched') {
        if (!(await context.vouch())) return batches.map(() => ({ kind: 'epochRequired' }))
      } else if (answer !== 'stale') return answer
      else if (alone) throw new StorageFailure('storage_unavailable', new Error('overtaken under the lock'))
    }
  }

  return {
    async append(batches, lockWaitMs) {
      const lost = lostOf.of(batches)
      for (let tries = 0; ; tries += 1) {
        try {
          return lost.recognise(await tryAppend(batches, lost, lockWaitMs))
        } catch (error) {
          // A statement that the server has refused has written nothing.
          if (isOfStatement(error)) lost.answered()
          else lost.unanswered()
          const delayMs = retryDelaysMs[tries]
          if (delayMs === undefined || !isConnectionLoss(error)) throw error
          await new Promise((resolve) => setTimeout(resolve, delayMs))
        }
      }
    },
    preview: (batch) => database.write(async (session) => previewed(await plan(session, [batch]))),
  }
}

/** What `append` would answer for the one batch of a plan. */
function previewed({ outcomes: [outcome], feeds: [feed] }: CommitPlan): AppendOutcome {
  if (outcome === undefined || feed === undefined) return outcome ?? { kind: 'unknownFeed' }
  return previewOf({ outcome, rows: feed.rows, reserved: feed.reserved })
}

/** Whether the append will look at everything the plan was made from. */
function isChecked({ outcomes, feeds }: CommitPlan): boolean {
  return (
    outcomes.every(({ kind }) => kind === 'stored') &&
    feeds.every(({ rows, reserved }) => rows.length + reserved.length > 0)
  )
}

function feedsToWrite(made: CommitPlan): readonly FeedPlan[] {
  const writing = made.feeds.filter(({ rows, reserved }) => rows.length + reserved.length > 0)
  const byName = new Map(writing.map((feed) => [feedName(feed.reading.key), feed]))
  return inKeyOrder(writing.map(({ reading }) => reading.key)).flatMap(
    (key) => byName.get(feedName(key)) ?? [],
  )
}

/** Another node has found in the meantime that the store lacks numbers. */
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
