/** Positions of the latest events of subjects, now and at an earlier time. */
import { viewsOf } from '@property-events/protocol'
import type { EarlierQuery, EarlierStep, LatestQuery } from '../../event-log.ts'
import { partsOfView } from '../../branches/branch-view.ts'
import { texts } from '../../../sql/postgres/array.ts'
import type { Reads } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { categoriesOf } from './read-after.ts'

/** One run for each category, because the index of latest events is in order only within a category. No category: contacts. */
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
  branchLatest: {
    name: 'latest-positions-branches',
    text: `SELECT latest.position FROM unnest($5::text[]) AS wanted (category) CROSS JOIN LATERAL (
        SELECT l.position FROM branch_latest l
        WHERE l.tenant = $1 AND l.feed = $2 AND l.branch_set = $7 AND l.category = wanted.category AND l.position > 0
          AND l.position > $3 AND l.position <= $6
        ORDER BY l.tenant, l.feed, l.branch_set, l.category, l.position LIMIT $4
      ) AS latest
      ORDER BY latest.position LIMIT $4`,
  },
  /** The index of subjects, backwards from the moment. */
  earlier: {
    name: 'earlier-positions',
    text: `SELECT looked.position AS looked, before.position, before.category, $7::text IS NULL OR EXISTS (
          SELECT FROM branch_of_set o
          WHERE o.tenant = $1 AND o.feed = $2 AND o.branch = before.branch AND o.branch_set = $7) AS in_set FROM (
        SELECT * FROM (${latestOf('s.subject, s.position', 's.position > $3', '$5')}) AS latest ORDER BY position LIMIT $4
      ) AS looked
      LEFT JOIN LATERAL (
        SELECT e.position, e.category, e.branch FROM event e
        WHERE e.tenant = $1 AND e.feed = $2 AND e.subject = looked.subject AND e.sequence > 0 AND e.position <= $6
        ORDER BY e.tenant DESC, e.feed DESC, e.subject DESC, e.position DESC LIMIT 1
      ) AS before ON true
      ORDER BY looked.position`,
  },
} as const satisfies Record<string, Statement>

export async function latestPositions(database: Reads, query: LatestQuery): Promise<readonly number[]> {
  const { key, view, after, through, limit } = query
  const { set } = partsOfView(view)
  const values = [key.tenantId, feedNumbers[key.feed], after, limit, texts(categoriesOf(query)), through]
  const rows =
    set === undefined
      ? await database.read<{ position: string }>(latestPositionStatements.latest, values)
      : await database.read<{ position: string }>(latestPositionStatements.branchLatest, [...values, set])
  return rows.map(({ position }) => Number(position))
}

interface EarlierRow {
  readonly looked: string
  readonly position: string | null
  readonly category: string | null
  /** Its branch at that time is in the requested set. */
  readonly in_set: boolean
}

export async function earlierPositions(database: Reads, query: EarlierQuery): Promise<EarlierStep> {
  const { key, view, after, through, limit } = query
  const { set = null, category: wanted } = partsOfView(view)
  const values = [key.tenantId, feedNumbers[key.feed], after, limit, texts(viewsOf(key.feed)), through, set]
  const rows = await database.read<EarlierRow>(latestPositionStatements.earlier, values)
  const positions = rows.flatMap(({ position, category, in_set: inSet }) =>
    position !== null && inSet && (wanted === undefined || category === wanted) ? [Number(position)] : [],
  )
  const last = rows.length < limit ? undefined : rows.at(-1)?.looked
  return { positions, next: last === undefined ? undefined : Number(last) }
}
