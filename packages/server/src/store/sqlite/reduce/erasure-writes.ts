/** Erases on the writer's connection: each verb is one immediate transaction. */
import { bytesOfUuid, millisecondsOfTicks, uuidOfBytes } from '@property-events/protocol/plain'
import { refusalOf } from '../../../events/feed.ts'
import type { Ticks } from '@property-events/protocol'
import { erasureBegun } from '../../../audit/changes.ts'
import { begunErasure, closingBatch, refusalOfClosing } from '../../../privacy/erasure/begin.ts'
import type { ChangeCounts, Watchers } from '../../../events/watchers.ts'
import { readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import { erasureOf, erasureWithId, insertErasure } from '../../../privacy/erasure/store.ts'
import type {
  BeginErasureOutcome,
  Erasure,
  ErasureRefusal,
  ErasureRequest,
  ErasureTarget,
  ReduceOutcome,
  Erasing,
} from '../../../privacy/erasure/erasure.ts'
import type { Appender } from '../../../events/sqlite/append/append.ts'
import { endRestrictions } from '../../../privacy/restriction/store.ts'
import { statementRunner } from '../../../sql/sqlite.ts'
import type { NoteChanges, OnWriter } from '../../../sql/sqlite.ts'
import type { CommitLine } from '../../../events/sqlite/commit-line.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { feedReader, feedToPublishReader } from '../../../events/sqlite/feed-row.ts'
import type { FeedToPublish } from '../../../events/sqlite/feed-row.ts'
import { reducer } from './reduce-events.ts'
import type { FeedKey } from '../../../events/feed-key.ts'
import { activeHold, onHoldOf } from '../../../privacy/hold/store.ts'
import { latestKeptReader } from '../../../events/sqlite/kept-events.ts'

export interface ErasureWrites {
  beginErasure(request: ErasureRequest): BeginErasureOutcome
  beginUnchangedErasure(request: ErasureRequest, position: number): BeginErasureOutcome | Changed
  reduceErased(erasureId: string, limit: number): ReduceOutcome
}

type Changed = { readonly kind: 'changed' }

export interface ErasureWriteParts {
  readonly appending: Appender
  readonly note: NoteChanges
  /** The closing event is stamped like any other (P3). */
  readonly line: Pick<CommitLine, 'commit'>
  /** The counts of feeds in which payloads were reduced, raised after the commit. */
  readonly changes: Pick<ChangeCounts, 'raise'>
}

export function erasureWrites(
  db: Connection,
  clock: SharedClock | undefined,
  { appending, note, line, changes }: ErasureWriteParts,
): ErasureWrites {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const run = statementRunner(db)
  const begin = beginner(db, appending, note, nowMs)
  const reduce = reducer(db, nowMs)
  const beginUnchanged = unchangedBeginner(db, begin)
  return {
    beginUnchangedErasure(request, position) {
      return line.commit(
        (floor) => beginUnchanged.immediate(request, position, floor),
        ({ kind }) => (kind === 'begun' ? [request.key] : []),
      )
    },
    beginErasure(request) {
      return line.commit(
        (floor) => begin.immediate(request, floor),
        ({ kind }) => (kind === 'begun' ? [request.key] : []),
      )
    },
    reduceErased(erasureId, limit) {
      const outcome = reduce(erasureId, limit)
      const [row] = outcome.kind === 'reduced' ? run(erasureWithId(erasureId)) : []
      if (row !== undefined) changes.raise(erasureOf(row).key)
      return outcome
    },
  }
}

function unchangedBeginner(
  db: Connection,
  begin: (request: ErasureRequest, floor: Ticks) => BeginErasureOutcome,
) {
  const latestOf = db
    .prepare<[string, string, Uint8Array], number>(
      `SELECT position FROM feed JOIN subject USING (feed_no) WHERE tenant = ? AND feed = ? AND subject = ?`,
    )
    .pluck()
  return db.transaction((request: ErasureRequest, position: number, floor: Ticks) => {
    const { target, key } = request
    if (target.kind !== 'subject') return { kind: 'changed' } satisfies Changed
    const latest = latestOf.get(key.tenantId, key.feed, bytesOfUuid(target.subjectId))
    return latest === position ? begin(request, floor) : ({ kind: 'changed' } satisfies Changed)
  })
}

function beginner(db: Connection, appending: Appender, note: NoteChanges, nowMs: () => number) {
  const rangeOf = erasedRangeReader(db, nowMs)
  const feedOf = feedReader(db)
  const run = statementRunner(db)
  return db.transaction((request: ErasureRequest, floor: Ticks): BeginErasureOutcome => {
    const { erasureId, key, target } = request
    const [known] = run(erasureWithId(erasureId))
    if (known !== undefined) return { kind: 'begun', erasure: erasureOf(known) }
    const range = rangeOf(key, target)
    if ('kind' in range) return range
    const { feed, firstPosition, lastPosition, events } = range
    let closing: Erasure['closing']
    if (target.kind === 'subject') {
      const [outcome] = appending.append([closingBatch(request, target.subjectId)], floor)
      if (outcome?.kind !== 'stored') return refusalOfClosing(outcome ?? { kind: 'unknownFeed' })
      const { id: eventId = '', stored } = outcome.events.at(-1) ?? {}
      closing = { eventId, sequenceNumber: stored?.sequenceNumber ?? 0 }
      run(endRestrictions(key, target.subjectId, request.actor, nowMs()))
    } else {
      const refusal = refusalOf(feed, 'event')
      if (refusal !== undefined) return refusal
    }
    const { revision } = feedOf(key) ?? feed
    const erasure = begunErasure({ request, events, closing, revision, nowMs: nowMs() })
    note(erasureBegun(request), request.actor)
    run(insertErasure(erasure, firstPosition, lastPosition))
    return { kind: 'begun', erasure }
  })
}

interface ErasedRange {
  readonly feed: FeedToPublish
  readonly firstPosition: number
  readonly lastPosition: number
  readonly events: number
}

/** What an erasure will reduce, determined before anything is appended: a subject's events, or one event. */
export function erasedRangeReader(
  db: Connection,
  nowMs: () => number,
): (key: FeedKey, target: ErasureTarget) => ErasedRange | ErasureRefusal {
  const feedOf = feedToPublishReader(db)
  const run = statementRunner(db)
  const latestKept = latestKeptReader(db)
  // Uses only the index: 100,000 events of a subject take some milliseconds.
  const countEvents = db
    .prepare<[number, Uint8Array], number>(
      'SELECT count(*) FROM event INDEXED BY event_subject WHERE feed_no = ? AND subject = ?',
    )
    .pluck()
  const findEvent = db.prepare<
    [number, Uint8Array],
    { position: number; latest: number; subject: Uint8Array }
  >(
    `SELECT event_id.position, subject.position AS latest, event.subject FROM event_id
      JOIN event ON event.place = (event_id.feed_no << 40) | event_id.position AND event.id = event_id.id
      JOIN subject ON subject.feed_no = event_id.feed_no AND subject.subject = event.subject
      WHERE event_id.feed_no = ? AND event_id.id = ?`,
  )
  return (key, target) => {
    const feed = feedOf(key)
    if (feed === undefined) return { kind: 'unknownFeed' }
    if (target.kind === 'subject') {
      const events = countEvents.get(feed.feedNo, bytesOfUuid(target.subjectId)) ?? 0
      if (events === 0) return { kind: 'unknownTarget' }
      const onHold = onHoldOf(run(activeHold(key, target.subjectId, nowMs())))
      if (onHold !== undefined) return onHold
      return { feed, firstPosition: 1, lastPosition: feed.lastPosition, events }
    }
    const event = findEvent.get(feed.feedNo, bytesOfUuid(target.eventId))
    if (event === undefined) return { kind: 'unknownTarget' }
    const { position, latest } = event
    // For a restricted contact, a later event is shown in its place, which does not show the contact's state.
    const kept = latestKept(feed.feedNo, event.subject)?.position
    if (position === latest || position === kept) return { kind: 'eventIsLatest' }
    const onHold = onHoldOf(run(activeHold(key, uuidOfBytes(event.subject), nowMs())))
    if (onHold !== undefined) return onHold
    return { feed, firstPosition: position, lastPosition: position, events: 1 }
  }
}

/** Erasing, on a file: counts on this thread, writes on the writer's. */
export function fileErasing(
  db: Connection,
  clock: SharedClock | undefined,
  writer: OnWriter<ErasureWrites>,
  watching: Watchers,
): Erasing {
  const rangeOf = erasedRangeReader(db, () => millisecondsOfTicks(readClock(clock)))
  return {
    async begin(request) {
      const outcome = await writer.beginErasure(request)
      if (outcome.kind === 'begun') watching.notify(request.key)
      return outcome
    },
    async beginUnchanged(request, position) {
      const outcome = await writer.beginUnchangedErasure(request, position)
      if (outcome.kind === 'begun') watching.notify(request.key)
      return outcome
    },
    async count(key, target) {
      const found = rangeOf(key, target)
      return 'kind' in found ? found : { kind: 'counted', events: found.events }
    },
    async reduce(erasureId, limit) {
      const outcome = await writer.reduceErased(erasureId, limit)
      if (outcome.kind === 'reduced') watching.notify(undefined)
      return outcome
    },
  }
}
