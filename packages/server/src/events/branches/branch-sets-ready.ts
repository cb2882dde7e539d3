/** Which views of sets of branches (D11) can be read. */
import { feedNumbers, statement } from '../../sql/database.ts'
import type { Sql } from '../../sql/database.ts'
import type { BranchSet } from './branch-view-store.ts'

type SetName = Pick<BranchSet, 'tenantId' | 'set'>

/** SQLite names a feed in the tables of the log by one number. */
const ready = statement<{ readonly tenant: string; readonly branch_set: string }>(
  'branch-sets-ready',
  (dialect) =>
    dialect === 'sqlite'
      ? `SELECT tenant, branch_set FROM json_each($1) AS given
          CROSS JOIN feed ON feed.tenant = given.value ->> 'tenant' AND feed.feed = 'property'
          CROSS JOIN branch_set s ON s.feed_no = feed.feed_no AND s.branch_set = given.value ->> 'branch_set'
          WHERE s.state = 'ready'`
      : `SELECT s.tenant, s.branch_set FROM json_to_recordset($1::json) AS given (tenant uuid, branch_set text)
          JOIN branch_set s ON s.tenant = given.tenant AND s.feed = ${feedNumbers.property} AND s.branch_set = given.branch_set
          WHERE s.state = 'ready'`,
)

/** Those of these sets that are ready. */
export async function branchSetsReady(sql: Sql, wanted: readonly SetName[]): Promise<readonly SetName[]> {
  const given = wanted.map(({ tenantId, set }) => ({ tenant: tenantId, branch_set: set }))
  const rows = await sql.rows(ready(JSON.stringify(given)))
  return rows.map(({ tenant, branch_set: set }) => ({ tenantId: tenant, set }))
}
