/** Two ways to a plan: from what this node remembers about the feeds, or otherwise from what it reads. */
import type { Ticks } from '@property-events/protocol'
import type { AppendBatch } from '../../append/append-batch.ts'
import type { Session } from '../../../sql/postgres/session.ts'
import { readFeeds, readMissing } from './feed-state.ts'
import type { Reading } from './feed-state.ts'
import { planCommit } from './plan-commit.ts'
import type { CommitPlan, PlanContext } from './plan-commit.ts'
import type { FeedStateCache } from './feed-state-cache.ts'

export interface PlanningContext extends Omit<PlanContext, 'now'> {
  /** Replaces the database's clock. For tests. */
  readonly now: () => Ticks | undefined
  readonly feedStates: FeedStateCache
  /** The history of a connection (D13). */
  readonly historyOf: (session: Session) => string
}

/** From memory, if the append will check everything the plan assumed: no outcome is returned unchecked. */
export async function planFromCache(
  session: Session,
  batches: readonly AppendBatch[],
  context: PlanningContext,
): Promise<CommitPlan | undefined> {
  const reading = context.feedStates.reading(batches, context.historyOf(session))
  if (reading === undefined) return undefined
  const planOnce = () => planCommit(batches, reading, planContext(context, reading.now))
  const made = planOnce()
  if (!isChecked(made)) return undefined
  if (made.wanted.length === 0) return made
  // Events whose payloads later events build on (D23, D26) or are compared with (D14). They change only with the feed's revision, which is checked too.
  await readMissing(session, reading, made.wanted)
  const complete = planOnce()
  return complete.wanted.length === 0 && isChecked(complete) ? complete : undefined
}

export async function planRead(
  session: Session,
  batches: readonly AppendBatch[],
  context: PlanningContext,
): Promise<CommitPlan> {
  const first = await readAndPlan(session, batches, context)
  // Another node may have stored the same request between two reads: in the first its id was still free, and in the second the one
  // derived from it was taken. Read again, it is a repeat.
  const isRefused = first.outcomes.some(({ kind }) => kind === 'idConflict')
  return first.reads > 1 && isRefused ? readAndPlan(session, batches, context) : first
}

/** `reads`: how often the database has been asked. */
async function readAndPlan(
  session: Session,
  batches: readonly AppendBatch[],
  context: PlanningContext,
): Promise<CommitPlan & { readonly reads: number }> {
  const reading: Reading = await readFeeds(session, batches)
  const planned = planContext(context, context.now() ?? reading.now)
  for (let reads = 1; ; reads += 1) {
    const made = planCommit(batches, reading, planned)
    if (made.wanted.length === 0) return { ...made, reads }
    await readMissing(session, reading, made.wanted)
  }
}

function planContext({ catalogue, clockToleranceTicks }: PlanningContext, now: Ticks): PlanContext {
  return { catalogue, clockToleranceTicks, now }
}

/** Whether the append will check everything the plan assumed. */
function isChecked({ outcomes, feeds }: CommitPlan): boolean {
  return (
    outcomes.every(({ kind }) => kind === 'stored') &&
    feeds.every(({ rows, reserved }) => rows.length + reserved.length > 0)
  )
}
