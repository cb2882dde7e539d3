/** Positions of the latest events of subjects, now and at an earlier time. */
import type { Category } from '@property-events/protocol'
import { bytesOfUuid, uuidOfBytes } from '@property-events/protocol/plain'
import { partsOfView } from '../../branches/branch-view.ts'
import type {
  EarlierQuery,
  EarlierStep,
  EventPosition,
  LatestQuery,
  NumberedSubject,
  SubjectPositionsQuery,
  SubjectsQuery,
} from '../../event-log.ts'
import type { FeedView } from '../../branches/branch-view.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { feedNumbers, feedReader } from '../feed-row.ts'
import { categoriesOf, positionFinder } from './read-after.ts'

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

/** Where the events of a subject are, and whose the events of a range are, without reading an event. */
export const placesOfStatement = `SELECT place & 0xffffffffff AS position, sequence AS sequenceNumber FROM event INDEXED BY event_subject
  WHERE feed_no = @feedNo AND subject = @subject AND place > (@feedNo << 40) | @after ORDER BY place LIMIT @limit`

export function subjectPositionsReader(
  db: Connection,
): (query: SubjectPositionsQuery) => readonly EventPosition[] {
  const feedOf = feedReader(db)
  const select = db.prepare<[object], EventPosition>(placesOfStatement)
  return ({ key, subjectId, after, limit }) => {
    const feedNo = feedOf(key)?.feedNo
    return feedNo === undefined ? [] : select.all({ feedNo, subject: bytesOfUuid(subjectId), after, limit })
  }
}

export function subjectsReader(db: Connection): (query: SubjectsQuery) => readonly NumberedSubject[] {
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
