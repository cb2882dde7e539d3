/** Reads erasures, on the connection for reading. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { feedReader } from './feed-row.ts'
import type { Connection } from './connection.ts'
import { erasedRangeReader } from './erased-range.ts'
import { erasureOf, erasureReader, erasureSelect } from './erasure-row.ts'
import type { ErasureRow } from './erasure-row.ts'
import { rangesOf } from '../../consumers/number-ranges.ts'
import { ofBranches } from './read-event.ts'
import { firstNotedHour } from '../erasure-store.ts'
import type { Unguarded } from '../guarded-verbs.ts'
import type { ErasureStore, Reduction, SentBefore, SentPiece, WaitingErasure } from '../storage.ts'

export function erasureReads(
  db: Connection,
  clock: SharedClock | undefined,
): Pick<
  Unguarded<ErasureStore>,
  'count' | 'open' | 'waiting' | 'sentBefore' | 'find' | 'list' | 'reductions'
> {
  const rangeOf = erasedRangeReader(db, () => millisecondsOfTicks(readClock(clock)))
  const read = erasureReader(db)
  const selectOpen = db.prepare<[], ErasureRow & { readonly nodes: string | null }>(
    `SELECT erasure.*, feed.tenant, feed.feed,
        (SELECT group_concat(node, ' ') FROM erasure_node WHERE erasure_node.erasure = erasure.erasure) AS nodes
      FROM erasure INDEXED BY erasure_open JOIN feed USING (feed_no)
      WHERE state IN ('reducing', 'reduced') ORDER BY erasure`,
  )
  const selectWaiting = db.prepare<[], WaitingErasure>(
    `SELECT erasure AS erasureId, unreachable_ms AS unreachableMs FROM erasure WHERE state = 'unreachable' ORDER BY erasure`,
  )
  const selectOwn = db.prepare<[string, string, number], ErasureRow>(
    `${erasureSelect} WHERE tenant = ? AND erasure > ? ORDER BY erasure LIMIT ?`,
  )
  return {
    count(key, target) {
      const found = rangeOf(key, target)
      return 'kind' in found ? found : { kind: 'counted', events: found.events }
    },
    open: () =>
      selectOpen.all().map((row) => ({ ...erasureOf(row), acknowledgedBy: row.nodes?.split(' ') ?? [] })),
    waiting: () => selectWaiting.all(),
    sentBefore: sentBeforeReader(db, read),
    find(tenantId, erasureId) {
      const row = read(erasureId)
      return row?.tenant === tenantId ? erasureOf(row) : undefined
    },
    list: (tenantId, after, limit) => selectOwn.all(tenantId, after ?? '', limit).map(erasureOf),
    reductions: reductionsReader(db),
  }
}

interface ReducedRow {
  readonly revision: number
  readonly sequence: number
}

interface ReducedAfter {
  readonly feedNo: number
  /** A revision of the feed. The last step may have the same one. */
  readonly after: number
  readonly through: number
  readonly limit: number
  /** A JSON list; `null`: any branch, or none. */
  readonly branches: string | null
}

function reductionsReader(db: Connection): Unguarded<ErasureStore>['reductions'] {
  const feedOf = feedReader(db)
  const select = db.prepare<ReducedAfter, ReducedRow>(
    `SELECT revision, sequence FROM reduced_event r
      WHERE feed_no = @feedNo AND revision > @after AND revision <= @through AND (@branches IS NULL OR EXISTS (
        SELECT 1 FROM event WHERE event.place = (r.feed_no << 40) | r.position AND ${ofBranches}
      )) ORDER BY revision, position LIMIT @limit`,
  )
  const all = Number.MAX_SAFE_INTEGER
  return (key, after, limit, branches) => {
    const feedNo = feedOf(key)?.feedNo
    if (feedNo === undefined) return []
    const asked = { feedNo, branches: branches === undefined ? null : JSON.stringify(branches) }
    // One more than requested shows whether the last step is complete.
    const rows = select.all({ ...asked, after, through: all, limit: limit + 1 })
    const whole = wholeSteps(
      Map.groupBy(rows, ({ revision }) => revision),
      rows.length > limit,
    )
    const first = rows[0]?.revision
    if (whole.length > 0 || first === undefined) return whole
    const step = select.all({ ...asked, after: first - 1, through: first, limit: all })
    return [{ revision: first, sequenceNumbers: step.map(({ sequence }) => sequence) }]
  }
}

interface NotedRow {
  readonly key_id: string
  readonly view: SentPiece['view']
  readonly hour: number
  readonly block: number
  readonly ranges: string
}

function sentBeforeReader(
  db: Connection,
  read: ReturnType<typeof erasureReader>,
): (erasureId: string) => SentBefore | undefined {
  const selectNoted = db.prepare<[string], { readonly doubt_ms: number | null }>(
    'SELECT doubt_ms FROM erasure_noted WHERE erasure = ?',
  )
  const selectSent = db.prepare<[string], NotedRow>(
    'SELECT key_id, view, hour, block, ranges FROM erasure_sent WHERE erasure = ? ORDER BY hour, key_id, view, block',
  )
  return (erasureId) => {
    const [row, noted] = [read(erasureId), selectNoted.get(erasureId)]
    if (row === undefined || noted === undefined) return undefined
    const { key, begunMs } = erasureOf(row)
    const pieces = selectSent.all(erasureId).map(({ key_id, ranges, ...piece }) => {
      return { ...piece, key, keyId: key_id, ranges: rangesOf(ranges) }
    })
    return { fromHour: firstNotedHour(begunMs), pieces, doubtMs: noted.doubt_ms ?? undefined }
  }
}

function wholeSteps(
  steps: ReadonlyMap<number, readonly { readonly sequence: number }[]>,
  isCut: boolean,
): readonly Reduction[] {
  const all = [...steps].map(([revision, rows]) => ({
    revision,
    sequenceNumbers: rows.map(({ sequence }) => sequence),
  }))
  return isCut ? all.slice(0, -1) : all
}
