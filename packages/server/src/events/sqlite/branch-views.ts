/** The port's part for views of sets of branches, on a file: read on this thread, filled and dropped by the writer's. */
import { millisecondsOfTicks } from '@property-events/protocol/plain'
import { scopeOfViews } from '../branches/branch-view-store.ts'
import type {
  BranchSet,
  BranchSetState,
  BranchSetStep,
  BranchViewStore,
} from '../branches/branch-view-store.ts'
import {
  branchSetId,
  partsOfView,
  storedBranches,
  viewNames,
  viewOfBranchSet,
} from '../branches/branch-view.ts'
import type { BranchSetId, FeedView } from '../branches/branch-view.ts'
import { readClock } from '../../runtime/clock.ts'
import type { SharedClock } from '../../runtime/clock.ts'
import type { OnWriter } from '../../sql/sqlite.ts'
import { StorageFailure } from '../../sql/storage-errors.ts'
import type { FeedKey } from '../feed-key.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { branchViewEnterer } from './append/enter-branch-views.ts'
import { feedReader } from './feed-row.ts'

type SetName = Pick<BranchSet, 'tenantId' | 'set'>
/** In the form of a grant. */
type WantedSet = { readonly tenant: string; readonly branches: string }

export interface BranchViewWrites {
  beginBranchSets(wanted: readonly WantedSet[]): void
  stepBranchSet(of: SetName, limit: number): BranchSetStep
}

interface SetRow {
  readonly branch_set: BranchSetId
  readonly branches: string
  readonly state: BranchSetState
  readonly filled: number
}

const keyOf = (tenantId: string): FeedKey => ({ tenantId, feed: 'property' })

/** A grant of a usable key that reads properties of some branches only. */
const granted = `g.branches IS NOT NULL AND instr(g.scopes, '${scopeOfViews}') > 0
  AND k.revoked_ms IS NULL AND (k.expires_ms IS NULL OR k.expires_ms > @now)`

export const branchSetStatements = {
  wanted: `SELECT DISTINCT g.tenant, g.branches FROM key_grant AS g INDEXED BY key_grant_limited CROSS JOIN key AS k USING (key_no)
      WHERE ${granted} AND NOT EXISTS (
        SELECT 1 FROM feed CROSS JOIN branch_set USING (feed_no)
        WHERE feed.tenant = g.tenant AND feed.feed = 'property' AND branch_set.branches = g.branches)`,
  due: `SELECT feed.tenant AS tenantId, s.branch_set AS "set" FROM branch_set AS s CROSS JOIN feed USING (feed_no)
      WHERE s.state <> 'ready' OR NOT EXISTS (
        SELECT 1 FROM key_grant AS g INDEXED BY key_grant_limited CROSS JOIN key AS k USING (key_no)
        WHERE g.tenant = feed.tenant AND g.branches = s.branches AND ${granted})
      ORDER BY feed.tenant, s.branch_set`,
} as const

export function fileBranchViews(
  db: Connection,
  clock: SharedClock | undefined,
  writer: OnWriter<BranchViewWrites>,
): BranchViewStore {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const selectAll = db.prepare<[], SetRow & { readonly tenant: string }>(
    `SELECT tenant, branch_set, branches, state, filled FROM branch_set CROSS JOIN feed USING (feed_no) ORDER BY tenant, branch_set`,
  )
  const selectNew = db.prepare<{ now: number }, WantedSet>(branchSetStatements.wanted)
  const selectDue = db.prepare<{ now: number }, SetName>(branchSetStatements.due)
  return {
    sets: async () =>
      selectAll.all().map(({ tenant, branch_set, branches, state, filled }) => {
        return { tenantId: tenant, set: branch_set, branches: storedBranches(branches), state, filled }
      }),
    async due() {
      const wanted = selectNew.all({ now: nowMs() })
      if (wanted.length > 0) await writer.beginBranchSets(wanted)
      return selectDue.all({ now: nowMs() })
    },
    step: (of, limit) => writer.stepBranchSet(of, limit),
  }
}

export function branchViewWrites(db: Connection, clock: SharedClock | undefined): BranchViewWrites {
  const nowMs = (): number => millisecondsOfTicks(readClock(clock))
  const begin = db.transaction(setBeginner(db))
  const step = db.transaction(setStepper(db, nowMs))
  return {
    beginBranchSets: (wanted) => begin.immediate(wanted),
    stepBranchSet: (of, limit) => step.immediate(of, limit),
  }
}

function setBeginner(db: Connection): (wanted: readonly WantedSet[]) => void {
  const feedOf = feedReader(db)
  const insertSet = db.prepare(
    `INSERT INTO branch_set (feed_no, branch_set, branches, state, filled) VALUES (?, ?, ?, 'filling', 0) ON CONFLICT DO NOTHING`,
  )
  const insertBranch = db.prepare('INSERT INTO branch_of_set (feed_no, branch, branch_set) VALUES (?, ?, ?)')
  const insertView = db.prepare('INSERT INTO view (feed_no, view, filter, last_ordinal) VALUES (?, ?, ?, 0)')
  return (wanted) => {
    for (const { tenant, branches: text } of wanted) {
      const feed = feedOf(keyOf(tenant))
      const branches = storedBranches(text)
      const set = branchSetId(branches)
      if (feed === undefined || insertSet.run(feed.feedNo, set, text).changes === 0) continue
      for (const branch of branches) insertBranch.run(feed.feedNo, branch, set)
      for (const view of viewNames)
        insertView.run(feed.feedNo, viewOfBranchSet(set, view), `branch IN ${text}`)
    }
  }
}

function setStepper(db: Connection, nowMs: () => number): BranchViewWrites['stepBranchSet'] {
  const feedOf = feedReader(db)
  const enter = branchViewEnterer(db)
  const drop = setDropper(db)
  const find = db.prepare<[number, string], SetRow>(
    'SELECT branch_set, branches, state, filled FROM branch_set WHERE feed_no = ? AND branch_set = ?',
  )
  const isGranted = db
    .prepare<{ tenant: string; branches: string; now: number }, number>(
      `SELECT 1 FROM key_grant AS g INDEXED BY key_grant_limited CROSS JOIN key AS k USING (key_no)
        WHERE g.tenant = @tenant AND g.branches = @branches AND ${granted} LIMIT 1`,
    )
    .pluck()
  const setState = db.prepare('UPDATE branch_set SET state = ? WHERE feed_no = ? AND branch_set = ?')
  const advance = db.prepare('UPDATE branch_set SET filled = ? WHERE feed_no = ? AND branch_set = ?')
  const noteViews = db.prepare(
    `UPDATE feed SET branch_views = EXISTS (SELECT 1 FROM branch_set WHERE feed_no = feed.feed_no AND state = 'ready') WHERE feed_no = ?`,
  )
  return ({ tenantId, set }, limit) => {
    const feed = feedOf(keyOf(tenantId))
    const row = feed && find.get(feed.feedNo, set)
    if (feed === undefined || row === undefined) return 'done'
    const { feedNo, lastPosition } = feed
    const wanted = isGranted.get({ tenant: tenantId, branches: row.branches, now: nowMs() }) !== undefined
    if (row.state === 'dropping') return drop(feedNo, set, limit, wanted)
    if (!wanted) {
      setState.run('dropping', feedNo, set)
      noteViews.run(feedNo)
      return 'more'
    }
    if (row.state === 'ready') return 'done'
    const through = Math.min(lastPosition, row.filled + limit)
    enter(feedNo, row.filled, through, set)
    advance.run(through, feedNo, set)
    // Nobody appends while this thread writes, so everything has been added.
    if (through < lastPosition) return 'more'
    setState.run('ready', feedNo, set)
    noteViews.run(feedNo)
    return 'done'
  }
}

/** Removes each view from its end. `wanted`: a key was given the branches again meanwhile, so they are filled once more. */
function setDropper(
  db: Connection,
): (feedNo: number, set: BranchSetId, limit: number, wanted: boolean) => BranchSetStep {
  const lastOrdinal = db
    .prepare<[number, string], number>('SELECT last_ordinal FROM view WHERE feed_no = ? AND view = ?')
    .pluck()
  const removeEntries = db.prepare('DELETE FROM view_entry WHERE feed_no = ? AND view = ? AND ordinal > ?')
  const lower = db.prepare('UPDATE view SET last_ordinal = ? WHERE feed_no = ? AND view = ?')
  const removeLatest = db.prepare(
    `DELETE FROM branch_latest WHERE feed_no = @feedNo AND branch_set = @set AND subject IN (
      SELECT subject FROM branch_latest INDEXED BY branch_latest_order WHERE feed_no = @feedNo AND branch_set = @set LIMIT @limit)`,
  )
  const again = db.prepare(
    `UPDATE branch_set SET state = 'filling', filled = 0 WHERE feed_no = ? AND branch_set = ?`,
  )
  const removeView = db.prepare('DELETE FROM view WHERE feed_no = ? AND view = ?')
  const removeBranches = db.prepare('DELETE FROM branch_of_set WHERE feed_no = ? AND branch_set = ?')
  const removeSet = db.prepare('DELETE FROM branch_set WHERE feed_no = ? AND branch_set = ?')
  return (feedNo, set, limit, wanted) => {
    const views = viewNames.map((name) => viewOfBranchSet(set, name))
    for (const view of views) {
      const last = lastOrdinal.get(feedNo, view) ?? 0
      if (last === 0) continue
      const left = Math.max(0, last - limit)
      removeEntries.run(feedNo, view, left)
      lower.run(left, feedNo, view)
      return 'more'
    }
    if (removeLatest.run({ feedNo, set, limit }).changes > 0) return 'more'
    if (wanted) {
      again.run(feedNo, set)
      return 'more'
    }
    for (const view of views) removeView.run(feedNo, view)
    removeBranches.run(feedNo, set)
    removeSet.run(feedNo, set)
    return 'done'
  }
}

/** Throws if a view belongs to a set of branches that is not ready, because it is still incomplete. */
export function readinessOf(db: Connection): (feedNo: number, view: FeedView) => void {
  const isReady = db.prepare<[number, string]>(
    `SELECT 1 FROM branch_set WHERE feed_no = CAST(? AS INTEGER) AND branch_set = CAST(? AS TEXT) AND state = 'ready'`,
  )
  return (feedNo, view) => {
    const { set } = partsOfView(view)
    if (set !== undefined && isReady.get(feedNo, set) === undefined)
      throw new StorageFailure('view_being_made')
  }
}
