/** What reads of branches, and looking for what is to be filled, cost on SQLite: each goes through an index, however large the tables are (P5). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { openStorage, storeFileOf } from '../../src/store/open-storage.ts'
import { branchSetStatements } from '../../src/events/sqlite/branch-views.ts'
import { latestPositionStatements } from '../../src/events/sqlite/read/positions.ts'
import { liveSubjectsStatement } from '../../src/events/sqlite/read/live-subjects.ts'
import { readAfterStatements } from '../../src/events/sqlite/read/read-after.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('views of branches on SQLite', () => {
  it('are read, and looked for, in indexes alone (P5)', async () => {
    using folder = temporaryFolder()
    const given = {
      kind: 'sqlite',
      folder: folder.path,
      create: true,
      catalogue: catalogues.default,
    } as const
    await (await openStorage(given)).close()
    const db = new Database(storeFileOf(folder.path), { readonly: true })
    const place = {
      feed: 1,
      set: '',
      view: '',
      category: 'sales',
      position: 0,
      after: 0,
      through: 9,
      limit: 9,
      first: Buffer.alloc(16),
      last: Buffer.alloc(16, 0xff),
      gone: '',
    }
    const planOf = (sql: string, values: object): string => {
      const steps = db.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(values)
      return steps.map(({ detail }) => detail).join('; ')
    }
    for (const sql of [
      readAfterStatements.view,
      readAfterStatements.branchLatest,
      latestPositionStatements.branchLatest,
      liveSubjectsStatement,
    ]) {
      assert.doesNotMatch(planOf(sql, place), /SCAN|TEMP B-TREE/)
    }
    // A row for each set, and for each grant that is limited to branches: of events and keys nothing is walked through.
    for (const sql of [branchSetStatements.wanted, branchSetStatements.due]) {
      const plan = planOf(sql, { now: 0 })
      assert.doesNotMatch(plan.replaceAll(/SCAN (?:s|g USING INDEX key_grant_limited)\b/g, ''), /SCAN/, plan)
    }
    db.close()
  })
})
