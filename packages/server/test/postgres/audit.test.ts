/** The audit in a database: what roles may do with it, and reading it while changes are committed out of order. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { tenantA, uuid } from '../store/support/drafts.ts'
import { withTenants } from '../store/support/stores.ts'
import { testClock } from '../store/support/test-clock.ts'
import { until } from '../support/until.ts'
import { withClient } from './support/standby.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

describe('the audit in PostgreSQL', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  const open = (url: string, clock?: ReturnType<typeof testClock>['clock']): Promise<StorageEngine> =>
    openStorage({
      kind: 'postgres',
      url,
      readConnections: 2,
      create: true,
      catalogue: catalogues.default,
      clock,
    })

  it('is written by the role that serves and changed by none; only the owner prunes it', async () => {
    const url = await databases.create()
    const { clock, set } = testClock('2019-01-01')
    await using owner = await withTenants(await open(url, clock))
    set('2026-01-01')
    const role = `node_${Date.now().toString(36)}`
    await withClient(url, async (client) => {
      // All rights on the tables, more than the documents give.
      await client.query(`CREATE ROLE ${role} LOGIN;
        DO $$ BEGIN
          EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${role}', current_schema());
          EXECUTE format('GRANT ALL ON ALL TABLES IN SCHEMA %I TO ${role}', current_schema());
          EXECUTE format('GRANT ALL ON ALL SEQUENCES IN SCHEMA %I TO ${role}', current_schema());
        END $$`)
      try {
        const address = url.replace('postgres@', `${role}@`)
        await using node = await open(address, clock)
        await node.tenants.changeTenant(tenantA, { suspended: true }, 'cli:node')
        const rows = await node.audit.read({ first: 'oldest', limit: 10 })
        assert.equal(rows.length, 3)
        const statements = [
          `UPDATE audit SET actor = 'cli:other'`,
          'DELETE FROM audit',
          'TRUNCATE audit',
          `BEGIN; SET LOCAL property_events.audit_pruned_before = '9000000000000'; DELETE FROM audit`,
          `INSERT INTO audit OVERRIDING SYSTEM VALUE SELECT * FROM audit
            ON CONFLICT (id) DO UPDATE SET actor = 'cli:other'`,
        ]
        for (const sql of statements) {
          const refused = /rows of the audit are never changed/
          await assert.rejects(
            withClient(address, (other) => other.query(sql)),
            refused,
            sql,
          )
        }
        // Nor the owner, by a statement.
        for (const sql of statements.slice(0, 3))
          await assert.rejects(client.query(sql), /rows of the audit/, sql)
        const beforeMs = Date.parse('2020-01-01')
        await assert.rejects(node.audit.prune(beforeMs, 'cli:node'), {
          name: 'StorageRefusal',
          code: 'not_permitted',
        })
        assert.deepEqual(await node.audit.read({ first: 'oldest', limit: 10 }), rows)
        assert.equal(await owner.audit.prune(beforeMs, 'cli:owner'), 2)
        assert.equal((await node.audit.read({ first: 'oldest', limit: 10 })).length, 2)
      } finally {
        await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
      }
    })
  })

  it('returns no row before which another one is committed later', async () => {
    const url = await databases.create()
    await using store = await withTenants(await open(url))
    const rows = await store.audit.read({ first: 'oldest', limit: 10 })
    assert(rows !== 'unknownRow')
    const after = rows.at(-1)?.id
    await withClient(url, async (slow) => {
      // A change that has its number, and whose commit takes long.
      await slow.query(`BEGIN; INSERT INTO audit (id, at_ms, actor, action, detail)
        VALUES ('${uuid('slow')}', 1, 'cli:slow', 'key.revoked', '{}')`)
      await store.tenants.changeTenant(tenantA, { suspended: true }, 'cli:quick')
      let read: readonly string[] | undefined
      const readNext = async (): Promise<void> => {
        const found = await store.audit.read({ first: 'oldest', after, limit: 10 })
        assert(found !== 'unknownRow')
        read = found.map(({ actor }) => actor)
      }
      const reading = readNext()
      await withClient(url, (client) =>
        until(async () => {
          const looking = await client.query(
            `SELECT FROM pg_stat_activity WHERE query LIKE '%AS writer%' AND pid <> pg_backend_pid()`,
          )
          return looking.rowCount !== 0
        }),
      )
      assert.equal(read, undefined, 'the quick row is not handed over yet')
      // The newest are shown as they are.
      const newest = await store.audit.read({ first: 'newest', limit: 1 })
      assert.equal(newest === 'unknownRow' ? undefined : newest[0]?.actor, 'cli:quick')
      await slow.query('COMMIT')
      await reading
      assert.deepEqual(read, ['cli:slow', 'cli:quick'])
    })
  })

  it('is followed without a gap while two nodes change things', async () => {
    const url = await databases.create()
    await using one = await open(url)
    await using two = await open(url)
    let changing = true
    const followed: string[] = []
    const follow = async (): Promise<void> => {
      for (let after: string | undefined, last = false; ;) {
        const rows = await two.audit.read({ first: 'oldest', after, limit: 7 })
        assert(rows !== 'unknownRow')
        followed.push(...rows.map(({ id }) => id))
        after = rows.at(-1)?.id ?? after
        if (last && rows.length === 0) return
        last = !changing
      }
    }
    const change = async (node: StorageEngine, name: string): Promise<void> => {
      await Promise.all(
        Array.from({ length: 60 }, (_, n) => {
          const tenantId = uuid(`${name} ${n}`)
          const tenant = { tenantId, name: tenantId, createdMs: 0, suspended: false }
          return node.tenants.createTenant(tenant, 'cli:one', { sameName: 'allowed' })
        }),
      )
    }
    const following = follow()
    await Promise.all([change(one, 'one'), change(two, 'two')])
    changing = false
    await following
    const all = await one.audit.read({ first: 'oldest', limit: 1_000 })
    assert(all !== 'unknownRow')
    assert.equal(all.length, 120)
    assert.deepEqual(
      followed,
      all.map(({ id }) => id),
    )
  })
})
