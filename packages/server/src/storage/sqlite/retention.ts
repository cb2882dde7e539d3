/** The port's part for retention, on a file: rules, and steps that thin. */
import { retentionSet } from '../../audit/changes.ts'
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import type { ChangeCounts } from '../change-counts.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import { cutThinStep, nextThinStep, retentionRules, retentionTurnMs } from '../retention-store.ts'
import type { ThinProgress } from '../retention-store.ts'
import type { Watchers } from '../watchers.ts'
import type { Actor, RetentionRule, RetentionStore, ThinOutcome, ThinSpan } from '../storage.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import { dueReader } from './due-events.ts'
import { feedReader } from './feed-row.ts'
import { eventReducer } from './reduce-events.ts'
import type { WriterLink } from './writer-link.ts'

export interface RetentionWrites {
  setRetentionRule(
    tenantId: string,
    rule: RetentionRule,
    days: number | undefined,
    actor: Actor,
  ): 'done' | 'unknownTenant'
  thinEvents(span: ThinSpan, limit: number, nodeId: string): ThinOutcome
  takeThinTurn(nodeId: string): boolean
  endThinTurn(nodeId: string): void
}

export function retentionWrites(
  db: Connection,
  clock: SharedClock | undefined,
  note: NoteChanges,
  changes: Pick<ChangeCounts, 'raise'>,
): RetentionWrites {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const turn = turnTaker(db, nowMs)
  const thin = thinner(db, turn.take, nowMs)
  return {
    takeThinTurn: turn.take,
    endThinTurn: turn.end,
    setRetentionRule: ruleSetter(db, note),
    thinEvents(span, limit, nodeId) {
      const outcome = thin(span, limit, nodeId)
      if (outcome.kind === 'thinned' && outcome.events > 0) changes.raise(span.key)
      return outcome
    },
  }
}

function ruleSetter(db: Connection, note: NoteChanges): RetentionWrites['setRetentionRule'] {
  const hasTenant = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE tenant = ?').pluck()
  const find = db
    .prepare<[string, string], number>('SELECT days FROM retention_rule WHERE tenant = ? AND rule = ?')
    .pluck()
  const put = db.prepare('INSERT OR REPLACE INTO retention_rule VALUES (?, ?, ?)')
  const remove = db.prepare('DELETE FROM retention_rule WHERE tenant = ? AND rule = ?')
  const set = db.transaction(
    (tenantId: string, rule: RetentionRule, days: number | undefined, actor: Actor) => {
      if (hasTenant.get(tenantId) === undefined) return 'unknownTenant'
      if (find.get(tenantId, rule) === days) return 'done'
      if (days === undefined) remove.run(tenantId, rule)
      else put.run(tenantId, rule, days)
      note(retentionSet(tenantId, rule, days), actor)
      return 'done'
    },
  )
  return (tenantId, rule, days, actor) => set.immediate(tenantId, rule, days, actor)
}

/** Each is one statement. */
function turnTaker(db: Connection, nowMs: () => number) {
  const take = db.prepare('UPDATE thin_turn SET node = ?, until_ms = ? WHERE node = ? OR until_ms <= ?')
  const end = db.prepare('UPDATE thin_turn SET until_ms = 0 WHERE node = ?')
  return {
    take: (nodeId: string): boolean => {
      const now = nowMs()
      return take.run(nodeId, now + retentionTurnMs, nodeId, now).changes > 0
    },
    end: (nodeId: string): void => void end.run(nodeId),
  }
}

function thinner(
  db: Connection,
  takeTurn: (nodeId: string) => boolean,
  nowMs: () => number,
): RetentionWrites['thinEvents'] {
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
    if (feed?.move !== 'open') return { kind: 'closed' }
    const { feedNo } = feed
    const ends = read.ends(feedNo, before, supersededBefore)
    const next = nextThinStep(read.progress(feedNo), ends, span, limit)
    if (next === undefined) return { kind: 'finished' }
    if (!takeTurn(nodeId)) return { kind: 'busy' }
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

export function fileRetention(
  db: Connection,
  clock: SharedClock | undefined,
  link: WriterLink,
  watching: Watchers,
): Unguarded<RetentionStore> {
  const { isFinished, ...reads } = retentionReads(db, () => millisecondsOfTicks(readClock(clock)))
  return {
    ...reads,
    setRule: (tenantId, rule, days, actor) => link.call('setRetentionRule', tenantId, rule, days, actor),
    takeTurn: (nodeId) => link.call('takeThinTurn', nodeId),
    endTurn: (nodeId) => link.call('endThinTurn', nodeId),
    async thin(span, limit, nodeId) {
      if (isFinished(span)) return { kind: 'finished' }
      const outcome = await link.call('thinEvents', span, limit, nodeId)
      if (outcome.kind === 'thinned' && outcome.events > 0) watching.tell(span.key)
      return outcome
    },
  }
}

interface RetentionReads extends Pick<Unguarded<RetentionStore>, 'rules' | 'countDue'> {
  /** Whether nothing is left, so that the writer is not asked in vain. */
  readonly isFinished: (span: ThinSpan) => boolean
}

interface RuleRow {
  readonly tenant: string
  readonly rule: string
  readonly days: number
}

/** On the connection for reading. */
function retentionReads(db: Connection, nowMs: () => number): RetentionReads {
  const feedOf = feedReader(db)
  const read = dueReader(db)
  const columns = 'SELECT tenant, rule, days FROM retention_rule'
  const selectRules = db.prepare<[], RuleRow>(`${columns} ORDER BY tenant, rule`)
  const selectRulesOf = db.prepare<[string], RuleRow>(`${columns} WHERE tenant = ? ORDER BY rule`)
  const nextOf = (feedNo: number, span: ThinSpan, limit: number, progress?: ThinProgress) => {
    const ends = read.ends(feedNo, span.before, span.supersededBefore)
    return nextThinStep(progress ?? read.progress(feedNo), ends, span, limit)
  }
  return {
    rules: (of) =>
      (of === undefined ? selectRules.all() : selectRulesOf.all(of)).flatMap(
        ({ tenant: tenantId, rule: name, days }) => {
          const rule = retentionRules.find((known) => known === name)
          return rule === undefined ? [] : [{ tenantId, rule, days }]
        },
      ),
    countDue(span, limit, progress) {
      const feedNo = feedOf(span.key)?.feedNo
      const next = feedNo === undefined ? undefined : nextOf(feedNo, span, limit, progress)
      if (feedNo === undefined || next === undefined) return undefined
      const { due, to } = cutThinStep(next, read.due(feedNo, next, nowMs()))
      return { events: due.length, progress: to }
    },
    isFinished: (span) => {
      const feed = feedOf(span.key)
      return feed?.move === 'open' && nextOf(feed.feedNo, span, 1) === undefined
    },
  }
}
