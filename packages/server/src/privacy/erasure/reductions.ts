/** Which events steps of erasures and restrictions have reduced: for copies that keep the history of a feed. */
import { among, feedNumbers, statement } from '../../sql/database.ts'
import type { Dialect, Sql } from '../../sql/database.ts'
import type { ErasureRecords, Reduction } from './erasure.ts'

interface ReducedRow {
  readonly revision: number
  readonly sequence: number
}

/** SQLite names a feed in the tables of the log by one number. `$4`: a JSON list; NULL: any branch, or none. */
function reducedEvents(dialect: Dialect, revisions: string): string {
  const [ofFeed, sameEvent] =
    dialect === 'sqlite'
      ? [
          'r.feed_no = (SELECT feed_no FROM feed_key WHERE tenant = $1 AND feed = $2)',
          'e.place = (r.feed_no << 40) | r.position',
        ]
      : ['r.tenant = $1 AND r.feed = $2', 'e.tenant = $1 AND e.feed = $2 AND e.position = r.position']
  return `SELECT revision, sequence FROM reduced_event r WHERE ${ofFeed} AND ${revisions}
    AND (CAST($4 AS text) IS NULL OR EXISTS (
      SELECT 1 FROM event e WHERE ${sameEvent} AND e.branch ${among('$4', 'text')(dialect)}
    )) ORDER BY revision, position`
}

const selectReduced = statement<ReducedRow>(
  'erasure-reductions',
  (dialect) => `${reducedEvents(dialect, 'revision > $3')} LIMIT $5`,
)
const selectStep = statement<ReducedRow>('erasure-reduction', (dialect) =>
  reducedEvents(dialect, 'revision = $3'),
)

/** As the port has it. */
export async function readReductions(
  sql: Sql,
  ...[{ tenantId, feed }, afterRevision, limit, branches]: Parameters<ErasureRecords['reductions']>
): Promise<readonly Reduction[]> {
  const within = branches === undefined ? null : JSON.stringify(branches)
  const place = [tenantId, feedNumbers[feed]] as const
  // One more than requested shows whether the last step is complete.
  const rows = await sql.rows(selectReduced(...place, afterRevision, within, limit + 1))
  const steps = stepsOf(rows)
  const whole = rows.length > limit ? steps.slice(0, -1) : steps
  const [first] = steps
  if (whole.length > 0 || first === undefined) return whole
  return stepsOf(await sql.rows(selectStep(...place, first.revision, within)))
}

function stepsOf(rows: readonly ReducedRow[]): readonly Reduction[] {
  return [...Map.groupBy(rows, ({ revision }) => revision)].map(([revision, step]) => ({
    revision,
    sequenceNumbers: step.map(({ sequence }) => sequence),
  }))
}
