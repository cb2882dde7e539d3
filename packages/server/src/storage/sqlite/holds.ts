/** Reads holds, and changes them on the writer's connection. */
import { bytesOfUuid, millisecondsOfTicks } from '@property-events/protocol/plain'
import { holdAdded, holdEnded, holdsExpired } from '../audit-changes.ts'
import type { Actor } from '../audit-store.ts'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import { addedHold } from '../hold-store.ts'
import type {
  AddHoldOutcome,
  EndHoldOutcome,
  FeedKey,
  Hold,
  HoldRequest,
  HoldStore,
  OnHold,
} from '../storage.ts'
import type { NoteChanges } from './audit.ts'
import type { Connection } from './connection.ts'
import { feedReader } from './feed-row.ts'
import { holdOf, holdSelect, holdValues } from './hold-row.ts'
import type { HoldRow } from './hold-row.ts'
import type { WriterLink } from './writer-link.ts'

/** The hold that protects a subject at a time: the longest-lasting one. One probe of a small index. */
export function activeHoldReader(
  db: Connection,
): (feedNo: number, subjectId: string, nowMs: number) => OnHold | undefined {
  const select = db.prepare<
    [number, Uint8Array, number],
    { readonly hold: string; readonly until_ms: number }
  >(
    `SELECT hold, until_ms FROM hold INDEXED BY hold_subject
      WHERE feed_no = ? AND subject = ? AND ended_ms IS NULL AND until_ms > ? ORDER BY until_ms DESC, hold LIMIT 1`,
  )
  return (feedNo, subjectId, nowMs) => {
    const row = select.get(feedNo, bytesOfUuid(subjectId), nowMs)
    return row && { kind: 'onHold', holdId: row.hold, untilMs: row.until_ms }
  }
}

export function fileHolds(
  db: Connection,
  clock: SharedClock | undefined,
  link: WriterLink,
): Unguarded<HoldStore> {
  const activeHold = activeHoldReader(db)
  const feedOf = feedReader(db)
  const find = db.prepare<[string], HoldRow>(`${holdSelect} WHERE hold = ?`)
  const select = db.prepare<[string, string, number], HoldRow>(
    `${holdSelect} WHERE tenant = ? AND hold > ? ORDER BY hold LIMIT ?`,
  )
  return {
    find(tenantId, holdId) {
      const row = find.get(holdId)
      return row?.tenant === tenantId ? holdOf(row) : undefined
    },
    list: (tenantId, after, limit) => select.all(tenantId, after ?? '', limit).map(holdOf),
    active(key, subjectId) {
      const feedNo = feedOf(key)?.feedNo
      return feedNo === undefined
        ? undefined
        : activeHold(feedNo, subjectId, millisecondsOfTicks(readClock(clock)))
    },
    add: (request) => link.call('addHold', request),
    end: (tenantId, holdId, actor) => link.call('endHold', tenantId, holdId, actor),
    reportExpired: () => link.call('reportExpiredHolds'),
  }
}

/** The holds of a feed, for another store. */
export function holdsOfFeed(db: Connection, { tenantId, feed }: FeedKey): readonly Hold[] {
  const select = db.prepare<[string, string], HoldRow>(
    `${holdSelect} WHERE tenant = ? AND feed = ? ORDER BY hold`,
  )
  return select.all(tenantId, feed).map(holdOf)
}

/** Inserts or updates a hold. Within a transaction. */
export function holdPutter(db: Connection): (feedNo: number, hold: Hold) => void {
  const put = db.prepare(`INSERT OR REPLACE INTO hold VALUES (${Array(11).fill('?').join(', ')})`)
  return (feedNo, hold) => void put.run(...holdValues(feedNo, hold))
}

export interface HoldWrites {
  addHold(request: HoldRequest): AddHoldOutcome
  endHold(tenantId: string, holdId: string, actor: Actor): EndHoldOutcome
  reportExpiredHolds(): readonly Hold[]
}

export function holdWrites(db: Connection, clock: SharedClock | undefined, note: NoteChanges): HoldWrites {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const feedOf = feedReader(db)
  const put = holdPutter(db)
  const find = db.prepare<[string], HoldRow>(`${holdSelect} WHERE hold = ?`)
  const hasSubject = db.prepare('SELECT 1 FROM subject WHERE feed_no = ? AND subject = ?')
  const selectExpired = db.prepare<[number], HoldRow>(
    `SELECT hold.*, feed.tenant, feed.feed FROM hold INDEXED BY hold_unreported JOIN feed USING (feed_no)
      WHERE ended_ms IS NULL AND reported_ms IS NULL AND until_ms <= ? ORDER BY hold`,
  )
  const change = (hold: Hold): Hold => {
    const feedNo = feedOf(hold.key)?.feedNo
    if (feedNo !== undefined) put(feedNo, hold)
    return hold
  }
  const add = db.transaction((request: HoldRequest): AddHoldOutcome => {
    const known = find.get(request.holdId)
    if (known !== undefined) return { kind: 'added', hold: holdOf(known) }
    const feed = feedOf(request.key)
    if (feed === undefined) return { kind: 'unknownFeed' }
    const subject = bytesOfUuid(request.subjectId)
    if (hasSubject.get(feed.feedNo, subject) === undefined) return { kind: 'unknownTarget' }
    if (feed.move !== 'open') return { kind: 'tenantMoving' }
    note(holdAdded(request), request.actor)
    return { kind: 'added', hold: change(addedHold(request, nowMs())) }
  })
  const end = db.transaction((tenantId: string, holdId: string, actor: Actor): EndHoldOutcome => {
    const row = find.get(holdId)
    if (row?.tenant !== tenantId) return { kind: 'unknownHold' }
    const hold = holdOf(row)
    if (hold.endedMs !== undefined) return { kind: 'ended', hold }
    if (feedOf(hold.key)?.move !== 'open') return { kind: 'tenantMoving' }
    note(holdEnded(hold), actor)
    return { kind: 'ended', hold: change({ ...hold, endedMs: nowMs(), endedBy: actor }) }
  })
  const report = db.transaction((): readonly Hold[] => {
    const reportedMs = nowMs()
    const expired = selectExpired.all(reportedMs).map((row) => change({ ...holdOf(row), reportedMs }))
    note(holdsExpired(expired), 'service')
    return expired
  })
  return {
    addHold: (request) => add.immediate(request),
    endHold: (tenantId, holdId, actor) => end.immediate(tenantId, holdId, actor),
    // Usually there is none, and a read does not take the writer's lock.
    reportExpiredHolds: () => (selectExpired.get(nowMs()) === undefined ? [] : report.immediate()),
  }
}
