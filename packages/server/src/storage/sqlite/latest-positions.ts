/** Positions of the latest events of subjects, and of what they were earlier. */
import type { Category } from '@property-events/protocol'
import type { EarlierQuery, EarlierStep, LatestQuery } from '../storage.ts'
import type { Connection } from './connection.ts'
import { feedNumbers } from './feed-row.ts'
import { categoriesOf } from './read-after.ts'

/** Runs through the index of the latest events; no event is read. */
export const latestPositionStatements = {
  latest: `SELECT position FROM subject INDEXED BY subject_latest
    WHERE feed_no = CAST(@feed AS INTEGER) AND category IS CAST(@category AS TEXT) AND position > @after AND position <= @through
    ORDER BY position LIMIT CAST(@limit AS INTEGER)`,
  newer: `SELECT subject, position FROM subject INDEXED BY subject_latest
    WHERE feed_no = CAST(@feed AS INTEGER) AND category IS CAST(@category AS TEXT) AND position > @after
    ORDER BY position LIMIT CAST(@limit AS INTEGER)`,
  /** The place stands at the end of every entry of the index. */
  before: `SELECT place & 0xffffffffff AS position, category FROM event INDEXED BY event_subject
    WHERE feed_no = CAST(@feed AS INTEGER) AND subject = CAST(@subject AS BLOB) AND place <= (@feed << 40) | @through
    ORDER BY place DESC LIMIT 1`,
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

export function latestFinder(db: Connection): (query: LatestQuery) => readonly number[] {
  const feedNoOf = feedNumbers(db)
  const select = db
    .prepare<Step & { readonly through: number }, number>(latestPositionStatements.latest)
    .pluck()
  // One state of the feed for all categories.
  return db.transaction(({ key, view, after, through, limit }: LatestQuery): readonly number[] => {
    const feed = feedNoOf(key)
    if (feed === undefined) return []
    return categoriesOf(key.feed, view)
      .flatMap((category) => select.all({ feed, category, after, through, limit }))
      .sort((a, b) => a - b)
      .slice(0, limit)
  })
}

export function earlierFinder(db: Connection): (query: EarlierQuery) => EarlierStep {
  const feedNoOf = feedNumbers(db)
  const selectNewer = db.prepare<Step, Subject>(latestPositionStatements.newer)
  const selectBefore = db.prepare<
    { readonly feed: number; readonly subject: Uint8Array; readonly through: number },
    { readonly position: number; readonly category: Category | null }
  >(latestPositionStatements.before)
  return db.transaction(({ key, view, after, through, limit }: EarlierQuery): EarlierStep => {
    const feed = feedNoOf(key)
    if (feed === undefined) return { positions: [], next: undefined }
    const looked = categoriesOf(key.feed, 'all')
      .flatMap((category) => selectNewer.all({ feed, category, after, limit }))
      .sort((a, b) => a.position - b.position)
      .slice(0, limit)
    const positions = looked.flatMap(({ subject }) => {
      const before = selectBefore.get({ feed, subject, through })
      return before !== undefined && (view === 'all' || before.category === view) ? [before.position] : []
    })
    return { positions, next: looked.length < limit ? undefined : looked.at(-1)?.position }
  })
}
