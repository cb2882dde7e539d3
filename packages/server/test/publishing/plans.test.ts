/** What is asked of refusals over all tenants reads those that it answers, however many are kept (P5, PROTOCOL §12.11). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { refusedSinceText } from '../../src/publishing/history/store.ts'
import { connect } from '../../src/sql/postgres/connection.ts'
import { storeFileOf } from '../../src/sql/sqlite/connection.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { tenantA } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

const kept = 20_000
const columns = '(tenant, minute, feed, key_id, place, at_ms, request_id, code, faults)'

describe('the last refusals of all tenants', () => {
  it('are one run of an index on SQLite', async () => {
    using folder = temporaryFolder()
    const given = {
      kind: 'sqlite',
      folder: folder.path,
      create: true,
      catalogue: catalogues.default,
    } as const
    await using store = await withTenants(await openStorage(given))
    const db = new Database(storeFileOf(folder.path))
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${kept})
      INSERT INTO refusal ${columns} SELECT '${tenantA}', i, 1, 'key', 0, i, 'r', 'invalid_body', '[]' FROM n`)
    const steps = db
      .prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${refusedSinceText}`)
      .all({ 1: 7, 2: 10 })
    db.close()
    const plan = steps.map(({ detail }) => detail).join('; ')
    assert.match(plan, /^SEARCH refusal USING INDEX refusal_minute/)
    assert.doesNotMatch(plan, /SCAN|TEMP B-TREE/)
    assert.equal((await store.publications.refusedSince(7, 10)).length, 10)
  })

  it('are one run of an index on PostgreSQL, also before it has statistics', async () => {
    const url = await (await sharedDatabases()).create()
    const given = { kind: 'postgres', url, readConnections: 1, create: true } as const
    await (await withTenants(await openStorage({ ...given, catalogue: catalogues.default }))).close()
    const database = connect({ url, readConnections: 1 })
    await database.write((session) =>
      session.script(`ALTER TABLE refusal SET (autovacuum_enabled = false);
        INSERT INTO refusal ${columns}
          SELECT '${tenantA}', n, 1, 'key', 0, n, 'r', 'invalid_body', '[]' FROM generate_series(1, ${kept}) AS n`),
    )
    const plan = await database.read<{ readonly 'QUERY PLAN': string }>(
      { name: 'explain', text: `EXPLAIN (ANALYZE, BUFFERS OFF) ${refusedSinceText}` },
      [7, 10],
    )
    await database.close()
    const steps = plan.map((row) => row['QUERY PLAN']).join('\n')
    assert.match(steps, /Index Scan Backward using refusal_minute/)
    assert.doesNotMatch(steps, /Seq Scan|Sort/)
  })
})
