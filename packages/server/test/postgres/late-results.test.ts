/** Results that are put while an erasure is begun, on PostgreSQL: whichever is first, nothing of them is left (D17). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { ConsumerResult } from '../../src/consumers/consumer.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { draft, tenantA, uuid } from '../store/support/drafts.ts'
import { erase, subject } from '../store/support/erasing.ts'
import { publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { until } from '../support/until.ts'
import { sharedDatabases } from './test-databases.ts'

/** Locked by the test. The trigger that waits for it runs after the one that takes results. */
const gate = 47_110_815
const makeGate = `
  CREATE FUNCTION late_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(${gate}); RETURN NEW; END $$;
  CREATE TRIGGER zz_late_gate AFTER INSERT ON erasure FOR EACH ROW EXECUTE FUNCTION late_gate();
  CREATE FUNCTION late_put() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(${gate} + 1); RETURN NULL; END $$;
  CREATE TRIGGER zz_late_put AFTER INSERT ON consumer_result FOR EACH STATEMENT EXECUTE FUNCTION late_put();`

function resultOf(house: string): ConsumerResult {
  return {
    tenantId: tenantA,
    subjectId: uuid(house),
    keyId: 'key',
    name: 'website',
    sequenceNumber: 1,
    outcome: 'live',
    code: undefined,
    message: undefined,
    url: `https://example.com/${house}`,
    resultMs: 5_000,
  }
}

describe('results of a property that is being erased', () => {
  let storage: StorageEngine
  let holder: Client
  before(async () => {
    const url = await (await sharedDatabases()).create()
    const given = { kind: 'postgres', url, readConnections: 1, create: true } as const
    storage = await withTenants(await openStorage({ ...given, catalogue: catalogues.default }))
    holder = new Client({ connectionString: url })
    await holder.connect()
    await holder.query(makeGate)
    await publish(storage, [draft({ subject: 'house' }), draft({ subject: 'garden' })])
  })
  after(async () => {
    await holder.end()
    await storage.close()
  })

  /** Sessions of this database that wait for a lock without a row. */
  const waiting = async (): Promise<number> => {
    const { rows } = await holder.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM pg_locks
        WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    return rows[0]?.n ?? 0
  }

  for (const [what, house, held, first, second] of [
    ['come while it is being begun', 'house', gate, 'erase', 'put'],
    ['are not yet on disk when it begins', 'garden', gate + 1, 'put', 'erase'],
  ] as const) {
    it(`that ${what} are not kept (D17)`, async () => {
      const acts = {
        put: () => storage.consumers.putResults([resultOf(house)]),
        erase: () => erase(storage, subject(house)),
      }
      await holder.query('SELECT pg_advisory_lock($1)', [held])
      const running = acts[first]()
      await until(async () => (await waiting()) === 1, { what: `the first to ${first}` })
      const state = { isOver: false }
      const other = acts[second]().finally(() => (state.isOver = true))
      await until(async () => state.isOver || (await waiting()) === 2, { what: `the second to ${second}` })
      await holder.query('SELECT pg_advisory_unlock($1)', [held])
      await Promise.all([running, other])
      assert.deepEqual(await storage.consumers.results(tenantA, uuid(house)), [])
    })
  }
})
