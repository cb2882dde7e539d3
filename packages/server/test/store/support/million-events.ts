import Database from 'better-sqlite3'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../../src/store/open-storage.ts'
import { eventChecksum } from '../../../src/events/sqlite/event-checksum.ts'
import { feedKey } from './drafts.ts'
import { withTenants } from './stores.ts'

/** Of the first event; each later one is a second behind the one before. */
export const firstCreated = 17_000_000_000_000_000n
export const createdStep = 10_000_000n

/**
 * A store whose first feed holds so many small events, written by one SQL statement per table in place of that many
 * publishes: a million in about 5 seconds. Every second one is to let. Returns the store's file.
 */
export async function storeOfManyEvents(folder: string, count: number): Promise<string> {
  const options = { kind: 'sqlite', folder, create: true, catalogue: catalogues.default } as const
  const store = await withTenants(await openStorage(options))
  await store.close()
  const file = `${folder}/property-events.db`
  const db = new Database(file)
  try {
    db.pragma('synchronous = OFF')
    db.function('checksum_of', (position: number, json: Buffer) => eventChecksum(position, json))
    const { tenantId, feed } = feedKey()
    const feedNo = db
      .prepare<[string, string], number>('SELECT feed_no FROM feed WHERE tenant = ? AND feed = ?')
      .pluck()
      .get(tenantId, feed)
    db.exec(`BEGIN;
      CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
        SELECT i, ${firstCreated} + (i - 1) * ${createdStep} AS created FROM n;
      INSERT INTO event (place, feed_no, created, sequence, id, subject, category, branch, code, state, checksum, json)
        SELECT (${feedNo} << 40) | i, ${feedNo}, created, i, zeroblob(16), zeroblob(16),
        iif(i % 2, 'sales', 'lettings'), NULL, 'PropertyUpdated', 'full', 0,
        CAST('{"sequenceNumber":' || i || ',"payload":"${'x'.repeat(200)}"}' AS BLOB) FROM n;
      UPDATE event SET checksum = checksum_of(place & 0xffffffffff, json);
      INSERT INTO view_entry SELECT ${feedNo}, iif(i % 2, 'sales', 'lettings'), (i + 1) / 2, i, created
        FROM n ORDER BY i % 2, i;
      UPDATE view SET last_ordinal = ${count / 2} WHERE feed_no = ${feedNo};
      UPDATE feed SET last_position = ${count}, last_created = (SELECT max(created) FROM n) WHERE feed_no = ${feedNo};
      COMMIT`)
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
  return file
}
