/** Positions of the latest events of subjects, now and at an earlier time. */
import type { Category } from '@property-events/protocol'
import { partsOfView } from '../../branches/branch-view.ts'
import type { EarlierQuery, EarlierStep, LatestQuery } from '../../event-log.ts'
import type { FeedView } from '../../branches/branch-view.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { feedNumbers } from '../feed-row.ts'
import { categoriesOf } from './read-after.ts'

/** Runs through the index of the latest events; no event is read. */
export const latestPositionStatements = {
  latest: `SELECT position FROM subject INDEXED BY subject_latest
    WHERE feed_no = CAST(@feed AS INTEGER) AND category IS CAST(@category AS TEXT) AND position > @after AND position <= @through
    ORDER BY position LIMIT CAST(@limit AS INTEGER)`,
  branchLatest: `SELECT position FROM branch_latest INDEXED BY branch_latest_order
    WHERE feed_no = CAST(@feed AS INTEGER) AND branch_set = CAST(@set AS TEXT) AND category IS CAST(@category AS TEXT)
      AND position > @after AND position <= @through
    ORDER BY position LIMIT CAST(@limit AS INTEGER)`,
  newer: `SELECT subject, position FROM subject INDEXED BY subject_latest
    WHERE feed_no = CAST(@feed AS INTEGER) AND category IS CAST(@category AS TEXT) AND position > @after
    ORDER BY position LIMIT CAST(@limit AS INTEGER)`,
  /** The place is at the end of every entry of the index. */
  before: `SELECT place & 0xffffffffff AS position, category, branch FROM event INDEXED BY event_subject
    WHERE feed_no = CAST(@feed AS INTEGER) AND subject = CAST(@subject AS BLOB) AND place <= (@feed << 40) | @through
    ORDER BY place DESC LIMIT 1`,
  isInSet: 'SELECT 1 FROM branch_of_set WHERE feed_no = ? AND branch = ? AND branch_set = ?',
} as const

interface Step {
  readonly feed: number
  readonly category: Category | null
  readonly after: number
  readonly limit: number
}

interface Subject {
  readonly subject: Uint8Array
  readonly position: number
}

interface Before {
  readonly position: number
  readonly category: Category | null
  readonly branch: string | null
}

export function latestFinder(db: Connection): (query: LatestQuery) => readonly number[] {
  const feedNoOf = feedNumbers(db)
  const select = db
    .prepare<Step & { readonly through: number }, number>(latestPositionStatements.latest)
    .pluck()
  const selectOfSet = db
    .prepare<Step & { readonly through: number; readonly set: string }, number>(
      latestPositionStatements.branchLatest,
    )
    .pluck()
  // One state of the feed for all categories.
  return db.transaction(({ key, view, after, through, limit }: LatestQuery): readonly number[] => {
    const feed = feedNoOf(key)
    if (feed === undefined) return []
    const { set } = partsOfView(view)
    return categoriesOf(key.feed, view)
      .flatMap((category) => {
        const step = { feed, category, after, through, limit }
        return set === undefined ? select.all(step) : selectOfSet.all({ ...step, set })
      })
      .sort((a, b) => a - b)
      .slice(0, limit)
  })
}

export function earlierFinder(db: Connection): (query: EarlierQuery) => EarlierStep {
  const feedNoOf = feedNumbers(db)
  const selectNewer = db.prepare<Step, Subject>(latestPositionStatements.newer)
  const selectBefore = db.prepare<
    { readonly feed: number; readonly subject: Uint8Array; readonly through: number },
    Before
  >(latestPositionStatements.before)
  const isInSet = db.prepare<[number, string, string]>(latestPositionStatements.isInSet)
  const standsIn = (feed: number, view: FeedView, { category: own, branch }: Before): boolean => {
    const { set, category } = partsOfView(view)
    if (category !== undefined && category !== own) return false
    return set === undefined || (branch !== null && isInSet.get(feed, branch, set) !== undefined)
  }
  return db.transaction(({ key, view, after, through, limit }: EarlierQuery): EarlierStep => {
    const feed = feedNoOf(key)
    if (feed === undefined) return { positions: [], next: undefined }
    const looked = categoriesOf(key.feed, 'all')
      .flatMap((category) => selectNewer.all({ feed, category, after, limit }))
      .sort((a, b) => a.position - b.position)
      .slice(0, limit)
    const positions = looked.flatMap(({ subject }) => {
      const before = selectBefore.get({ feed, subject, through })
      return before !== undefined && standsIn(feed, view, before) ? [before.position] : []
    })
    return { positions, next: looked.length < limit ? undefined : looked.at(-1)?.position }
  })
}
