/** Thinning on a file, step by step. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import type { ChangeCounts } from '../../../events/change-counts.ts'
import { readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import { cutThinStep, nextThinStep } from '../../../privacy/retention/retention.ts'
import type { Thinning, ThinProgress, ThinOutcome, ThinSpan } from '../../../privacy/retention/retention.ts'
import { refusalOf } from '../../../events/feed.ts'
import { turnFor } from '../../../privacy/retention/store.ts'
import { statementRunner } from '../../../sql/sqlite.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'
import type { Watchers } from '../../../events/watchers.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { dueReader } from './due-events.ts'
import { feedReader } from '../../../events/sqlite/feed-row.ts'
import { eventReducer } from './reduce-events.ts'

export interface RetentionWrites {
  thinEvents(span: ThinSpan, limit: number, nodeId: string): ThinOutcome
}

export function retentionWrites(
  db: Connection,
  clock: SharedClock | undefined,
  changes: Pick<ChangeCounts, 'raise'>,
): RetentionWrites {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const thin = thinner(db, nowMs)
  return {
    thinEvents(span, limit, nodeId) {
      const outcome = thin(span, limit, nodeId)
      if (outcome.kind === 'thinned' && outcome.events > 0) changes.raise(span.key)
      return outcome
    },
  }
}

function thinner(db: Connection, nowMs: () => number): RetentionWrites['thinEvents'] {
  const run = statementRunner(db)
  const feedOf = feedReader(db)
  const read = dueReader(db)
  const reduceEvent = eventReducer(db)
  const raise = db
    .prepare<[number], number>('UPDATE feed SET thinned = thinned + 1 WHERE feed_no = ? RETURNING thinned')
    .pluck()
  const noteThinned = db.prepare('INSERT INTO thinned_event VALUES (?, ?, ?)')
  const putProgress = db.prepare('INSERT OR REPLACE INTO thin_progress VALUES (?, ?, ?, ?, ?)')
  const step = db.transaction((span: ThinSpan, limit: number, nodeId: string): ThinOutcome => {
    const { key, before, supersededBefore } = span
    const feed = feedOf(key)
    if (feed === undefined) return { kind: 'unknownFeed' }
    const refusal = refusalOf(feed, 'nothing')
    if (refusal !== undefined) return refusal
    const { feedNo } = feed
    const ends = read.ends(feedNo, before, supersededBefore)
    const next = nextThinStep(read.progress(feedNo), ends, span, limit)
    if (next === undefined) return { kind: 'finished' }
    if (run(turnFor(nodeId, nowMs())).length === 0) return { kind: 'busy' }
    const { due, to } = cutThinStep(next, read.due(feedNo, next, nowMs()))
    const thinned = due.length === 0 ? undefined : raise.get(feedNo)
    for (const event of due) {
      reduceEvent(feedNo, key.feed, event, 'thinned')
      noteThinned.run(feedNo, thinned, event.position)
    }
    const { aged, superseded, held } = to
    putProgress.run(feedNo, aged, superseded, held?.from ?? null, held?.before ?? null)
    return { kind: 'thinned', events: due.length }
  })
  return (span, limit, nodeId) => step.immediate(span, limit, nodeId)
}

export function fileThinning(
  db: Connection,
  clock: SharedClock | undefined,
  writer: OnWriter<RetentionWrites>,
  watching: Watchers,
): Thinning {
  const { isFinished, ...reads } = retentionReads(db, () => millisecondsOfTicks(readClock(clock)))
  return {
    ...reads,
    async thin(span, limit, nodeId) {
      if (isFinished(span)) return { kind: 'finished' }
      const outcome = await writer.thinEvents(span, limit, nodeId)
      if (outcome.kind === 'thinned' && outcome.events > 0) watching.notify(span.key)
      return outcome
    },
  }
}

interface RetentionReads extends Pick<Thinning, 'countDue'> {
  /** Whether nothing is left, so that the writer is not asked in vain. */
  readonly isFinished: (span: ThinSpan) => boolean
}

/** On the connection for reading. */
function retentionReads(db: Connection, nowMs: () => number): RetentionReads {
  const feedOf = feedReader(db)
  const read = dueReader(db)
  const nextOf = (feedNo: number, span: ThinSpan, limit: number, progress?: ThinProgress) => {
    const ends = read.ends(feedNo, span.before, span.supersededBefore)
    return nextThinStep(progress ?? read.progress(feedNo), ends, span, limit)
  }
  return {
    async countDue(span, limit, progress) {
      const feedNo = feedOf(span.key)?.feedNo
      const next = feedNo === undefined ? undefined : nextOf(feedNo, span, limit, progress)
      if (feedNo === undefined || next === undefined) return undefined
      const { due, to } = cutThinStep(next, read.due(feedNo, next, nowMs()))
      return { events: due.length, progress: to }
    },
    isFinished: (span) => {
      const feed = feedOf(span.key)
      return (
        feed !== undefined &&
        refusalOf(feed, 'nothing') === undefined &&
        nextOf(feed.feedNo, span, 1) === undefined
      )
    },
  }
}
