/** What a receipt's recipients cost on SQLite: what the ledger holds of the feed, however many keys there are (P5). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { recipientsOf } from '../../src/privacy/disclosure/recipients.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { sentOfText } from '../../src/privacy/disclosure/store.ts'
import { storeFileOf } from '../../src/sql/sqlite/connection.ts'
import { sentOfErasedText } from '../../src/privacy/erasure/earlier-disclosures.ts'
import { placesOfStatement } from '../../src/events/sqlite/read/positions.ts'
import { feedKey, tenantA, tenantB } from './support/drafts.ts'
import { withTenants } from './support/stores.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const keyCount = 10_000

describe('recipients on SQLite', () => {
  it('are found through one index, without reading keys that were sent nothing of the feed (P5, D28)', async () => {
    using folder = temporaryFolder()
    await using store = await withTenants(
      await openStorage({ kind: 'sqlite', folder: folder.path, create: true, catalogue: catalogues.default }),
    )
    const db = new Database(storeFileOf(folder.path))
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${keyCount})
      INSERT INTO sent SELECT printf('key%05d', i), '${tenantB}', 2, 'all', 480000 + i % 7, 0, '[[1,9]]' FROM n`)
    db.exec(`INSERT INTO sent SELECT key_id, '${tenantA}', 2, 'all', 480000, 0, '[[1,9]]' FROM sent
      WHERE key_id IN ('key00007', 'key09999')`)
    const places = { feedNo: 1, subject: Buffer.alloc(16), after: 0, limit: 1 }
    const block = Object.fromEntries([tenantA, 2, 0, 0, 0, '', '', 1].map((value, at) => [at + 1, value]))
    const planOf = (sql: string, values: object) =>
      db.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(values)
    for (const plan of [planOf(sentOfText, block), planOf(placesOfStatement, places)]) {
      const steps = plan.map(({ detail }) => detail).join('; ')
      assert.match(steps, /^SEARCH/, steps)
      assert.doesNotMatch(steps, /SCAN|TEMP B-TREE/, steps)
    }
    assert.match(
      planOf(sentOfText, block)[0]?.detail ?? '',
      /sent_block \(tenant=\? AND feed=\? AND block=\? AND/,
    )
    const erasure = Object.fromEntries(['', tenantA, 2, 0, null, 1].map((value, at) => [at + 1, value]))
    const copying = db.prepare<[object], { detail: string }>(
      `EXPLAIN QUERY PLAN ${sentOfErasedText('sqlite')}`,
    )
    const steps = copying.all(erasure).map(({ detail }) => detail)
    assert.ok(
      steps.some((step) => /sent_block \(tenant=\? AND feed=\? AND block=\? AND hour>\?\)/.test(step)),
      steps.join('; '),
    )
    assert.doesNotMatch(steps.join('; '), /SCAN (event|sent)\b/)
    db.close()
    const asked: string[] = []
    const keys: typeof store.keys = {
      ...store.keys,
      keys: () => assert.fail('every key was read'),
      findKey(keyId) {
        asked.push(keyId)
        return store.keys.findKey(keyId)
      },
    }
    const feed = feedKey(tenantA, 'contact')
    const found = await recipientsOf({ keys, ledger: store.ledger }, feed, [
      { position: 4, sequenceNumber: 4 },
    ])
    assert.deepEqual(
      found.map(({ keyId, events }) => [keyId, events]),
      [
        ['key00007', 1],
        ['key09999', 1],
      ],
    )
    assert.deepEqual(asked, ['key00007', 'key09999'])
  })
})
