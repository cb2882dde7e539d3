/** What was sent to whom: read on this thread, added to by the writer's. */
import { bytesOfUuid, uuidOfBytes } from '@property-events/protocol/plain'
import { runSilenceMs } from '../ledger-store.ts'
import type {
  NumberedSubject,
  PlacedEvent,
  PlacesQuery,
  SentOfQuery,
  SentPiece,
  SentQuery,
  SentRun,
  SubjectsQuery,
} from '../ledger-store.ts'
import { joinRanges, rangesOf } from '../../consumers/number-ranges.ts'
import type { FeedName } from '@property-events/protocol'
import type { Unguarded } from '../guarded-verbs.ts'
import type { LedgerStore } from '../storage.ts'
import type { Connection } from './connection.ts'
import { feedReader } from './feed-row.ts'
import { positionFinder } from './read-after.ts'
import type { WriterLink } from './writer-link.ts'

export interface LedgerWrites {
  addSent(pieces: readonly SentPiece[]): void
  markRun(run: Parameters<LedgerStore['mark']>[0]): void
}

export function ledgerWrites(db: Connection): LedgerWrites {
  const select = db
    .prepare<[string, string, string, string, number, number], string>(
      'SELECT ranges FROM sent WHERE key_id = ? AND tenant = ? AND feed = ? AND view = ? AND hour = ? AND block = ?',
    )
    .pluck()
  const put = db.prepare(
    `INSERT INTO sent (key_id, tenant, feed, view, hour, block, ranges) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET ranges = excluded.ranges`,
  )
  const add = db.transaction((pieces: readonly SentPiece[]) => {
    for (const { keyId, key, view, hour, block, ranges } of pieces) {
      const place = [keyId, key.tenantId, key.feed, view, hour, block] as const
      const before = select.get(...place)
      const joined = JSON.stringify(joinRanges(before === undefined ? [] : rangesOf(before), ranges))
      if (joined !== before) put.run(...place, joined)
    }
  })
  const loseSilent = db.prepare(
    'UPDATE sent_run SET lost_ms = ? WHERE ended = 0 AND lost_ms IS NULL AND through_ms < ?',
  )
  const putRun = db.prepare(
    `INSERT INTO sent_run (run, began_ms, through_ms, ended) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET through_ms = excluded.through_ms, ended = excluded.ended, lost_ms = NULL`,
  )
  const mark = db.transaction(({ runId, beganMs, throughMs, ended }: Parameters<LedgerStore['mark']>[0]) => {
    loseSilent.run(throughMs, throughMs - runSilenceMs)
    putRun.run(runId, beganMs, throughMs, ended ? 1 : 0)
  })
  return { addSent: (pieces) => add.immediate(pieces), markRun: (run) => mark.immediate(run) }
}

interface SentRow {
  readonly key_id: string
  readonly tenant: string
  readonly feed: FeedName
  readonly view: SentPiece['view']
  readonly hour: number
  readonly block: number
  readonly ranges: string
}

interface RunRow {
  readonly run: string
  readonly began_ms: number
  readonly through_ms: number
  readonly lost_ms: number | null
}

export interface LedgerReads {
  sent(query: SentQuery): readonly SentPiece[]
  sentOf(query: SentOfQuery): readonly SentPiece[]
  placesOf(query: PlacesQuery): readonly PlacedEvent[]
  openRuns(): readonly SentRun[]
  subjectsIn(query: SubjectsQuery): readonly NumberedSubject[]
}

export function ledgerReads(db: Connection): LedgerReads {
  const columns = 'SELECT key_id, tenant, feed, view, hour, block, ranges FROM sent'
  const order = 'ORDER BY key_id, tenant, feed, view, hour, block LIMIT @limit'
  const ofKey = 'key_id = @keyId AND hour BETWEEN @fromHour AND @toHour'
  const select = db.prepare<[object], SentRow>(`${columns} WHERE ${ofKey} ${order}`)
  const selectAfter = db.prepare<[object], SentRow>(
    `${columns} WHERE ${ofKey} AND (tenant, feed, view, hour, block) > (@tenant, @feed, @view, @hour, @block) ${order}`,
  )
  const selectRuns = db.prepare<[], RunRow>(
    'SELECT run, began_ms, through_ms, lost_ms FROM sent_run WHERE ended = 0 ORDER BY began_ms',
  )
  return {
    sent({ keyId, fromHour, toHour, after, limit }) {
      const asked = { keyId, fromHour, toHour, limit }
      const rows = after === undefined ? select.all(asked) : selectAfter.all({ ...asked, ...placeOf(after) })
      return rows.map(pieceOf)
    },
    sentOf: blockReader(db),
    placesOf: placesReader(db),
    openRuns: () =>
      selectRuns.all().map(({ run, began_ms, through_ms, lost_ms }) => {
        return { runId: run, beganMs: began_ms, throughMs: through_ms, lostMs: lost_ms ?? undefined }
      }),
    subjectsIn: subjectsReader(db),
  }
}

function placeOf({ key, view, hour, block }: SentPiece) {
  return { tenant: key.tenantId, feed: key.feed, view, hour, block }
}

function pieceOf({ key_id, tenant, feed, view, hour, block, ranges }: SentRow): SentPiece {
  return { keyId: key_id, key: { tenantId: tenant, feed }, view, hour, block, ranges: rangesOf(ranges) }
}

export const sentOfStatement = `SELECT key_id, tenant, feed, view, hour, block, ranges FROM sent INDEXED BY sent_block
  WHERE tenant = @tenant AND feed = @feed AND block = @block AND hour <= @toHour AND (hour, key_id, view) > (@fromHour, @keyId, @view)
  ORDER BY hour, key_id, view LIMIT @limit`

function blockReader(db: Connection): LedgerReads['sentOf'] {
  const select = db.prepare<[object], SentRow>(sentOfStatement)
  return ({ key: { tenantId: tenant, feed }, block, fromHour, toHour, after, limit }) => {
    // No key has an empty id.
    const from = { fromHour: after?.hour ?? fromHour, keyId: after?.keyId ?? '', view: after?.view ?? '' }
    return select.all({ tenant, feed, block, toHour, limit, ...from }).map(pieceOf)
  }
}

export const placesOfStatement = `SELECT place & 0xffffffffff AS position, sequence AS sequenceNumber FROM event INDEXED BY event_subject
  WHERE feed_no = @feedNo AND subject = @subject AND place > (@feedNo << 40) | @after ORDER BY place LIMIT @limit`

function placesReader(db: Connection): LedgerReads['placesOf'] {
  const feedOf = feedReader(db)
  const select = db.prepare<[object], PlacedEvent>(placesOfStatement)
  return ({ key, subjectId, after, limit }) => {
    const feedNo = feedOf(key)?.feedNo
    return feedNo === undefined ? [] : select.all({ feedNo, subject: bytesOfUuid(subjectId), after, limit })
  }
}

function subjectsReader(db: Connection): LedgerReads['subjectsIn'] {
  const feedOf = feedReader(db)
  const positionOf = positionFinder(db)
  const select = db.prepare<
    [number, number, number, number],
    { position: number; sequence: number; subject: Buffer }
  >(
    `SELECT place & 0xffffffffff AS position, sequence, subject FROM event
      WHERE place >= (? << 40) | ? AND place <= (? << 40) | ? ORDER BY place`,
  )
  return db.transaction(({ key, view, range: [first, last] }: SubjectsQuery) => {
    const feed = feedOf(key)
    if (feed === undefined) return []
    const isNumbers = view === 'numbers'
    const from = isNumbers ? positionOf(feed, first - 1) + 1 : first
    const to = Math.min(isNumbers ? positionOf(feed, last) : last, feed.lastPosition)
    return select.all(feed.feedNo, from, feed.feedNo, to).map(({ position, sequence, subject }) => {
      return { number: isNumbers ? sequence : position, subjectId: uuidOfBytes(subject) }
    })
  })
}

export function fileLedger(db: Connection, link: WriterLink): Unguarded<LedgerStore> {
  return {
    ...ledgerReads(db),
    add: (pieces) => link.call('addSent', pieces),
    mark: (run) => link.call('markRun', run),
  }
}
