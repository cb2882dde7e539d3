/** What a receipt's recipients cost on PostgreSQL: what the ledger holds of the feed, however many keys there are (P5). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { sentOfText } from '../../src/privacy/disclosure/store.ts'
import { connect } from '../../src/sql/postgres/connection.ts'
import type { Session, Statement, Value } from '../../src/sql/postgres/session.ts'
import { placesOfStatement } from '../../src/events/postgres/read/positions.ts'
import { sentOfErasedText } from '../../src/privacy/erasure/earlier-disclosures.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { tenantA, tenantB, uuid } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { sharedDatabases } from './test-databases.ts'

const keyCount = 10_000

type PlanRow = { 'QUERY PLAN': readonly [{ Plan: Record<string, number> }] }

describe('recipients on PostgreSQL', () => {
  it('are found through one index, which skips all keys that were sent nothing of the feed (P5, D28)', async () => {
    const url = await (await sharedDatabases()).create()
    const given = { kind: 'postgres', url, readConnections: 1, create: true } as const
    await (await withTenants(await openStorage({ ...given, catalogue: catalogues.default }))).close()
    const database = connect({ url, readConnections: 1 })
    await database.write(async (session) => {
      await session.script(`INSERT INTO sent SELECT 'key' || n, '${tenantB}', 2, 'all', 480000 + n % 7, 0, '[[1,9]]'
          FROM generate_series(1, ${keyCount}) AS n;
        INSERT INTO sent SELECT 'key' || n, '${tenantA}', 2, 'all', 480000, n % 200, '[[1,9]]'
          FROM generate_series(1, ${keyCount}) AS n;
        INSERT INTO event (tenant, feed, position, sequence, created, id, subject, code, json)
          SELECT '${tenantA}', 2, n, n, n, gen_random_uuid(), CASE WHEN n % 1000 = 0 THEN '${uuid('p')}'::uuid ELSE gen_random_uuid() END, '', ''
          FROM generate_series(1, 20000) AS n`)
      await session.script('VACUUM ANALYZE sent, event')
      const pieces = [tenantA, 2, 3, 500_000, 0, '', '', 500]
      const pages = await pagesOf(session, { name: 'sent-of', text: sentOfText }, pieces, /"sent_block"/)
      assert.ok(pages < 200, `${pages} pages for 50 pieces among ${2 * keyCount}`)
      const places = await pagesOf(
        session,
        placesOfStatement,
        [tenantA, 2, uuid('p'), 0, 100],
        /"event_subject"/,
      )
      assert.ok(places < 60, `${places} pages for 20 places among 20,000`)
      // Events of p stand in two of the 200 blocks.
      const erasure = [uuid('erasure'), tenantA, 2, 480_000, uuid('p'), 20_000]
      const ofErased = { name: 'erasure-sent-blocks', text: sentOfErasedText('postgres') }
      const copied = await pagesOf(session, ofErased, erasure, /"sent_block"/)
      assert.ok(copied < 300, `${copied} pages for 100 pieces among ${2 * keyCount}`)
    })
    await database.close()
  })
})

async function pagesOf(
  session: Session,
  { name, text }: Statement,
  values: readonly Value[],
  index: RegExp,
): Promise<number> {
  const explain = { name: `explain-${name}`, text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}` }
  // Once to warm up: the first reading also counts what planning reads of the catalogue.
  await session.query<PlanRow>(explain, values)
  const [row] = await session.query<PlanRow>(explain, values)
  const [{ Plan }] = row?.['QUERY PLAN'] ?? assert.fail('no plan')
  assert.match(JSON.stringify(Plan), index)
  assert.doesNotMatch(JSON.stringify(Plan), /Seq Scan|"Sort"/)
  return (Plan['Shared Hit Blocks'] ?? Infinity) + (Plan['Shared Read Blocks'] ?? 0)
}
