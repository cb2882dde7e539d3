import { viewsOf } from '@property-events/protocol'
import { partsOfView } from '../../branches/branch-view.ts'
import type { ReadAfterQuery, StoredEvent } from '../../event-log.ts'
import { texts } from '../../../sql/postgres/array.ts'
import type { Reads } from '../../../sql/postgres/connection.ts'
import type { Statement } from '../../../sql/postgres/session.ts'
import { eventAt } from '../../log-statements.ts'
import { feedNumbers } from '../../../sql/database.ts'
import { storedEventOf } from './read-event.ts'
import type { EventRow } from './read-event.ts'

const longTexts = 'bytes'

/** Ordered runs through indexes, each ended by its limit. */
export const readAfterStatements = {
  all: {
    name: 'read-after-all',
    longTexts,
    text: `SELECT e.sequence, e.json FROM event e
      WHERE e.tenant = $1 AND e.feed = $2 AND e.position > position_at($1, $2, $3)
      ORDER BY e.tenant, e.feed, e.position LIMIT $4`,
  },
  /** Time rises with position, so a view's time index also finds the place of a position in it. */
  view: {
    name: 'read-after-view',
    longTexts,
    text: `SELECT e.sequence, e.json FROM view_entry v
      ${eventAt('v.position', 'sequence, json')}
      WHERE v.tenant = $1 AND v.feed = $2 AND v.view = $5 AND v.position > 0 AND v.created > coalesce((
        SELECT created FROM event WHERE tenant = $1 AND feed = $2 AND position = position_at($1, $2, $3)
      ), -9223372036854775808)
      ORDER BY v.created LIMIT $4`,
  },
  /**
   * One run for each category, because the index of latest events is in order only within a category. No category: contacts. The place is
   * looked up once, and the order is written as the index has it: given the choice, PostgreSQL took another index for a table without
   * statistics, and looked up the place for each subject of the feed (a first copy of 20,000 contacts took 54 s).
   */
  latest: {
    name: 'read-after-latest',
    longTexts,
    text: `SELECT e.sequence, e.json FROM (
        SELECT latest.position FROM unnest($5::text[]) AS wanted (category)
        CROSS JOIN LATERAL (
          SELECT s.position FROM subject s
          WHERE s.tenant = $1 AND s.feed = $2 AND s.category = wanted.category AND s.position > 0
            AND s.position > (SELECT position_at($1, $2, $3))
          ORDER BY s.tenant, s.feed, s.category, s.position LIMIT $4
        ) AS latest
        UNION ALL
        (SELECT s.position FROM subject s
          WHERE $5::text[] = '{}' AND s.tenant = $1 AND s.feed = $2 AND s.category IS NULL AND s.position > 0
            AND s.position > (SELECT position_at($1, $2, $3))
          ORDER BY s.tenant, s.feed, s.category, s.position LIMIT $4)
        ORDER BY 1 LIMIT $4
      ) AS latest
      ${eventAt('latest.position', 'sequence, json')}
      ORDER BY latest.position`,
  },
  /** The same for a set of branches, which only properties have. */
  branchLatest: {
    name: 'read-after-branch-latest',
    longTexts,
    text: `SELECT e.sequence, e.json FROM (
        SELECT latest.position FROM unnest($5::text[]) AS wanted (category)
        CROSS JOIN LATERAL (
          SELECT l.position FROM branch_latest l
          WHERE l.tenant = $1 AND l.feed = $2 AND l.branch_set = $6 AND l.category = wanted.category AND l.position > 0
            AND l.position > (SELECT position_at($1, $2, $3))
          ORDER BY l.tenant, l.feed, l.branch_set, l.category, l.position LIMIT $4
        ) AS latest
        ORDER BY 1 LIMIT $4
      ) AS latest
      ${eventAt('latest.position', 'sequence, json')}
      ORDER BY latest.position`,
  },
} as const satisfies Record<string, Statement>

export async function readAfter(database: Reads, query: ReadAfterQuery): Promise<readonly StoredEvent[]> {
  const { key, view, after, limit, latestOnly } = query
  const values = [key.tenantId, feedNumbers[key.feed], after, limit]
  const { set } = partsOfView(view)
  const rows = latestOnly
    ? set === undefined
      ? await database.read<EventRow>(readAfterStatements.latest, [...values, texts(categoriesOf(query))])
      : await database.read<EventRow>(readAfterStatements.branchLatest, [
          ...values,
          texts(categoriesOf(query)),
          set,
        ])
    : view === 'all'
      ? await database.read<EventRow>(readAfterStatements.all, values)
      : await database.read<EventRow>(readAfterStatements.view, [...values, view])
  return rows.map(storedEventOf)
}

/** The categories that a view's subjects can have; contacts have none. */
export function categoriesOf({ key, view }: Pick<ReadAfterQuery, 'key' | 'view'>): readonly string[] {
  const { category } = partsOfView(view)
  return category === undefined ? viewsOf(key.feed) : [category]
}
