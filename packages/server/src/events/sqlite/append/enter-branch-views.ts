/** Adds events to the views of sets of branches. Appends, imports and filling all use this, and nothing else does it. */
import type { Category, Ticks } from '@property-events/protocol'
import { viewOfBranchSet } from '../../branches/branch-view.ts'
import type { BranchSetId, BranchViewName } from '../../branches/branch-view.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'

/**
 * Adds the events after one position up to another, which follow what has been added before. `onlySet`: to the views of that set,
 * whatever its state; left out: to those of all ready sets. Only within a transaction, after the events are stored.
 */
type EnterBranchViews = (feedNo: number, after: number, through: number, onlySet?: BranchSetId) => void

interface ArrivedRow {
  readonly position: bigint
  readonly created: Ticks
  readonly subject: Uint8Array
  readonly category: Category | null
  readonly branch: string | null
}

interface Entry {
  readonly position: number
  readonly created: Ticks
}

interface LatestEntry {
  readonly subject: Uint8Array
  readonly category: Category | null
  readonly position: number
  readonly sets: readonly BranchSetId[]
}

export function branchViewEnterer(db: Connection): EnterBranchViews {
  // The JSON is last in the row, so it is not read.
  const arrived = db
    .prepare<[number, number, number, number], ArrivedRow>(
      `SELECT place & 0xffffffffff AS position, created, subject, category, branch FROM event
        WHERE place > (? << 40) | ? AND place <= (? << 40) | ? ORDER BY place`,
    )
    .safeIntegers()
  const setsOf = setReader(db)
  const { takeOrdinals, insertEntry } = eventStatements(db)
  const noteLatest = latestNoter(db)

  return (feedNo, after, through, onlySet) => {
    const ofBranch = setsOf(feedNo, onlySet)
    const entries = new Map<BranchViewName, Entry[]>()
    const latest = new Map<string, LatestEntry>()
    for (const row of arrived.all(feedNo, after, feedNo, through)) {
      const { created, subject, category, branch } = row
      const position = Number(row.position)
      const sets = branch === null ? [] : ofBranch(branch)
      latest.set(Buffer.from(subject).toString('latin1'), { subject, category, position, sets })
      for (const set of sets) {
        for (const name of category === null ? (['all'] as const) : (['all', category] as const)) {
          const view = viewOfBranchSet(set, name)
          const known = entries.get(view)
          if (known === undefined) entries.set(view, [{ position, created }])
          else known.push({ position, created })
        }
      }
    }
    for (const [view, run] of entries) {
      const last = takeOrdinals.get(run.length, feedNo, view)
      if (last === undefined) throw new Error(`feed ${feedNo} has no view ${view}`)
      for (const [index, { position, created }] of run.entries()) {
        insertEntry.run(feedNo, view, last - run.length + 1 + index, position, created)
      }
    }
    for (const entry of latest.values()) noteLatest(feedNo, entry, onlySet)
  }
}

/** The sets that a branch is in, each branch looked up once. */
function setReader(
  db: Connection,
): (feedNo: number, onlySet: BranchSetId | undefined) => (branch: string) => readonly BranchSetId[] {
  const select = db
    .prepare<[number, string], BranchSetId>(
      `SELECT branch_set FROM branch_of_set CROSS JOIN branch_set USING (feed_no, branch_set)
        WHERE feed_no = ? AND branch = ? AND state = 'ready'`,
    )
    .pluck()
  const isIn = db
    .prepare<[number, string, string], number>(
      'SELECT 1 FROM branch_of_set WHERE feed_no = ? AND branch = ? AND branch_set = ?',
    )
    .pluck()
  return (feedNo, onlySet) => {
    const known = new Map<string, readonly BranchSetId[]>()
    return (branch) => {
      const found = known.get(branch)
      if (found !== undefined) return found
      const sets =
        onlySet === undefined
          ? select.all(feedNo, branch)
          : isIn.get(feedNo, branch, onlySet) === undefined
            ? []
            : [onlySet]
      known.set(branch, sets)
      return sets
    }
  }
}

/** Stores the subject's new place. Its earlier place is removed first, because it may have left a set. */
function latestNoter(
  db: Connection,
): (feedNo: number, entry: LatestEntry, onlySet: BranchSetId | undefined) => void {
  const leave = db.prepare(
    `DELETE FROM branch_latest WHERE feed_no = ? AND subject = ? AND branch_set IN (
      SELECT branch_set FROM branch_set WHERE feed_no = ? AND state = 'ready')`,
  )
  const leaveOne = db.prepare(
    'DELETE FROM branch_latest WHERE feed_no = ? AND subject = ? AND branch_set = ?',
  )
  const put = db.prepare(
    'INSERT INTO branch_latest (feed_no, subject, branch_set, category, position) VALUES (?, ?, ?, ?, ?)',
  )
  return (feedNo, { subject, category, position, sets }, onlySet) => {
    if (onlySet === undefined) leave.run(feedNo, subject, feedNo)
    else leaveOne.run(feedNo, subject, onlySet)
    for (const set of sets) put.run(feedNo, subject, set, category, position)
  }
}

/** The statements that every new event needs, whether it is published here or taken over from another store. */
export function eventStatements(db: Connection) {
  return {
    putSubject: db.prepare(
      `INSERT INTO subject (feed_no, subject, position, published, category, branch, code, payload_hash, spelling,
          update_date_hash, kept_code)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET position = excluded.position, published = excluded.published,
          category = excluded.category, branch = excluded.branch, code = excluded.code,
          payload_hash = excluded.payload_hash, spelling = excluded.spelling,
          update_date_hash = excluded.update_date_hash, kept_code = excluded.kept_code`,
    ),
    /** Takes this many ordinals of a view and returns the last of them; nothing if the feed has no such view. */
    takeOrdinals: db
      .prepare<[number, number, string], number>(
        'UPDATE view SET last_ordinal = last_ordinal + ? WHERE feed_no = ? AND view = ? RETURNING last_ordinal',
      )
      .pluck(),
    insertEntry: db.prepare(
      'INSERT INTO view_entry (feed_no, view, ordinal, position, created) VALUES (?, ?, ?, ?, ?)',
    ),
    /** Advances the feed's counter. */
    advance: db.prepare('UPDATE feed SET last_position = ?, last_created = ? WHERE feed_no = ?'),
  }
}
