/** The port's part for views of sets of branches, on a database: the steps are functions in the database. */
import { scopeOfViews } from '../branches/branch-view-store.ts'
import type { BranchSetState, BranchViewStore } from '../branches/branch-view-store.ts'
import { branchSetId, storedBranches, viewNames, viewOfBranchSet } from '../branches/branch-view.ts'
import { texts } from '../../sql/postgres/array.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { Row, Session, Statement } from '../../sql/postgres/session.ts'
import { feedNumbers } from '../../sql/database.ts'

/** Sets are of properties alone. */
const feed = feedNumbers.property

const selectSets: Statement = {
  name: 'branch-sets',
  text: `SELECT tenant::text, branch_set, branches, state, filled FROM branch_set ORDER BY tenant, feed, branch_set`,
}
const now = 'coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)'
const selectNew: Statement = {
  name: 'branch-sets-new',
  text: `SELECT DISTINCT g.tenant::text, g.branches FROM key_grant g JOIN key k ON k.key_no = g.key_no
    WHERE g.branches IS NOT NULL AND g.scopes LIKE '%${scopeOfViews}%'
      AND k.revoked_ms IS NULL AND coalesce(k.expires_ms > ${now}, true)
      AND NOT EXISTS (
        SELECT FROM branch_set s WHERE s.tenant = g.tenant AND s.feed = ${feed} AND s.branches = g.branches)`,
}
const selectDue: Statement = {
  name: 'branch-sets-due',
  text: `SELECT tenant::text, branch_set FROM branch_set
    WHERE state <> 'ready' OR NOT branches_are_granted(tenant, branches, ${now})
    ORDER BY tenant, feed, branch_set`,
}
const insertSet: Statement = {
  name: 'branch-set-insert',
  text: `INSERT INTO branch_set (tenant, feed, branch_set, branches, state, filled)
    SELECT f.tenant, f.feed, $2, $3, 'filling', 0 FROM feed f WHERE f.tenant = $1 AND f.feed = ${feed}
    ON CONFLICT (tenant, feed, branch_set) DO NOTHING RETURNING branch_set`,
}
const insertBranches: Statement = {
  name: 'branch-set-branches',
  text: `INSERT INTO branch_of_set (tenant, feed, branch, branch_set) SELECT $1, ${feed}, branch, $2 FROM unnest($3::text[]) AS branch`,
}
const insertViews: Statement = {
  name: 'branch-set-views',
  text: `INSERT INTO view (tenant, feed, view, filter, last_ordinal)
    SELECT $1, ${feed}, view, 'branch IN ' || $2 , 0 FROM unnest($3::text[]) AS view`,
}
const stepSet: Statement = {
  name: 'branch-set-step',
  text: `SELECT step_branch_set($1, ${feed}::smallint, $2, $3, $4) AS status`,
}

interface SetRow extends Row {
  readonly tenant: string
  readonly branch_set: string
  readonly branches: string
  readonly state: BranchSetState
  readonly filled: string
}

/** `nowMs`: replaces the database's clock, for tests. */
export function databaseBranchViews(database: Database, nowMs: () => number | null): BranchViewStore {
  return {
    async sets() {
      const rows = await database.read<SetRow>(selectSets, [])
      return rows.map(({ tenant, branch_set, branches, state, filled }) => {
        return {
          tenantId: tenant,
          set: branch_set,
          branches: storedBranches(branches),
          state,
          filled: Number(filled),
        }
      })
    },
    async due() {
      const wanted = await database.read<Pick<SetRow, 'tenant' | 'branches'>>(selectNew, [nowMs()])
      for (const { tenant, branches } of wanted) {
        await database.transaction((session) => begin(session, tenant, branches))
      }
      const rows = await database.read<Pick<SetRow, 'tenant' | 'branch_set'>>(selectDue, [nowMs()])
      return rows.map(({ tenant, branch_set }) => ({ tenantId: tenant, set: branch_set }))
    },
    step: ({ tenantId, set }, limit) =>
      database.write(async (session) => {
        const [row] = await session.query<{ status: string }>(stepSet, [tenantId, set, limit, nowMs()])
        return row?.status === 'more' || row?.status === 'done' ? row.status : 'busy'
      }),
  }
}

/** If several nodes do this at the same time, one begins the set. */
async function begin(session: Session, tenant: string, given: string): Promise<void> {
  const branches = storedBranches(given)
  const set = branchSetId(branches)
  if ((await session.query(insertSet, [tenant, set, given])).length === 0) return
  await session.query(insertBranches, [tenant, set, texts(branches)])
  const views = viewNames.map((view) => viewOfBranchSet(set, view))
  await session.query(insertViews, [tenant, given, texts(views)])
}
