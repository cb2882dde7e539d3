/** Positions of the latest events of subjects, and of what they were earlier. */
import { viewsOf } from '@property-events/protocol'
import type { EarlierQuery, EarlierStep, LatestQuery } from '../storage.ts'
import { texts } from './array.ts'
import type { Database, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

/** One run for each category, because the index of the latest is in order within a category only. None: of contacts. */
function latestOf(columns: string, positions: string, categories: string): string {
  return `SELECT latest.* FROM unnest(${categories}::text[]) AS wanted (category) CROSS JOIN LATERAL (
      SELECT ${columns} FROM subject s
      WHERE s.tenant = $1 AND s.feed = $2 AND s.category = wanted.category AND s.position > 0 AND ${positions}
      ORDER BY s.tenant, s.feed, s.category, s.position LIMIT $4
    ) AS latest
    UNION ALL
    (SELECT ${columns} FROM subject s
      WHERE ${categories}::text[] = '{}' AND s.tenant = $1 AND s.feed = $2 AND s.category IS NULL AND s.position > 0 AND ${positions}
      ORDER BY s.tenant, s.feed, s.category, s.position LIMIT $4)`
}

export const latestPositionStatements = {
  latest: {
    name: 'latest-positions',
    text: `SELECT position FROM (${latestOf('s.position', 's.position > $3 AND s.position <= $6', '$5')}) AS latest
      ORDER BY position LIMIT $4`,
  },
  /** The index of subjects, backwards from the moment. */
  earlier: {
    name: 'earlier-positions',
    text: `SELECT looked.position AS looked, before.position, before.category FROM (
        SELECT * FROM (${latestOf('s.subject, s.position', 's.position > $3', '$5')}) AS latest ORDER BY position LIMIT $4
      ) AS looked
      LEFT JOIN LATERAL (
        SELECT e.position, e.category FROM event e
        WHERE e.tenant = $1 AND e.feed = $2 AND e.subject = looked.subject AND e.sequence > 0 AND e.position <= $6
        ORDER BY e.tenant DESC, e.feed DESC, e.subject DESC, e.position DESC LIMIT 1
      ) AS before ON true
      ORDER BY looked.position`,
  },
} as const satisfies Record<string, Statement>

export async function latestPositions(database: Database, query: LatestQuery): Promise<readonly number[]> {
  const { key, view, after, through, limit } = query
  const categories = view === 'all' ? viewsOf(key.feed) : [view]
  const values = [key.tenantId, feedNumbers[key.feed], after, limit, texts(categories), through]
  const rows = await database.read<{ position: string }>(latestPositionStatements.latest, values)
  return rows.map(({ position }) => Number(position))
}

interface EarlierRow {
  readonly looked: string
  readonly position: string | null
  readonly category: string | null
}

export async function earlierPositions(database: Database, query: EarlierQuery): Promise<EarlierStep> {
  const { key, view, after, through, limit } = query
  const values = [key.tenantId, feedNumbers[key.feed], after, limit, texts(viewsOf(key.feed)), through]
  const rows = await database.read<EarlierRow>(latestPositionStatements.earlier, values)
  const positions = rows.flatMap(({ position, category }) =>
    position !== null && (view === 'all' || category === view) ? [Number(position)] : [],
  )
  const last = rows.length < limit ? undefined : rows.at(-1)?.looked
  return { positions, next: last === undefined ? undefined : Number(last) }
}
