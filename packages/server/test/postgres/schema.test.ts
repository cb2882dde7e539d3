/** The schema: made once by many nodes, and cheap to read at any depth. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { skippedIdsPerStep } from '../../src/events/skipped-ids.ts'
import { connect } from '../../src/sql/postgres/connection.ts'
import type { Statement } from '../../src/sql/postgres/session.ts'
import { dueStatements } from '../../src/store/postgres/reduce/retention.ts'
import { locateStatements } from '../../src/events/postgres/read/locate.ts'
import { inspectDatabase } from '../../src/store/postgres/inspect-database.ts'
import { migrate, migrations, serverRefusal } from '../../src/store/postgres/migrate.ts'
import { nodeRights } from '../../src/store/postgres/node-rights.ts'
import { readAfterStatements } from '../../src/events/postgres/read/read-after.ts'
import { readRangeStatements } from '../../src/events/postgres/read/read-range.ts'
import { readSubjectStatements } from '../../src/events/postgres/read/read-event.ts'
import { forgetStatement } from '../../src/events/postgres/append/skipped-ids.ts'
import { branchViewName } from '../../src/events/branches/branch-view.ts'
import { assertViews, grantBranches } from '../store/support/branch-views.ts'
import { describePostgres } from '../store/support/describe-schema.ts'
import { draft, feedKey, tenantA, uuid } from '../store/support/drafts.ts'
import { list, numbers, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { laterSteps } from './support/later-step.ts'
import { giveRightsOfNode } from './support/rights-of-node.ts'
import { withClient } from './support/standby.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

const settings = { catalogue: catalogues.default, startSequence: 0 }

describe('the schema in PostgreSQL', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  function open(url: string, create = true): Promise<StorageEngine> {
    return openStorage({ kind: 'postgres', url, readConnections: 1, create, catalogue: catalogues.default })
  }

  it('is made once when twenty nodes start at the same time', async () => {
    const url = await databases.create()
    const nodes = await Promise.all(Array.from({ length: 20 }, () => open(url)))
    for (const node of nodes) {
      assert.deepEqual(node.settings, { ...settings, storeId: nodes[0]?.settings.storeId })
      await node.close()
    }
    const { rows } = await withClient(url, (client) => client.query('SELECT schema_version FROM store'))
    assert.deepEqual(rows, [{ schema_version: migrations.length }])
  })

  it('never gives the keys a version twice, even after a promotion has lost the last one (D11)', async () => {
    const url = await databases.create()
    const store = await open(url)
    await store.tenants.createTenant(
      { tenantId: tenantA, name: 'A', createdMs: 0, suspended: false },
      'cli:test',
    )
    const before = await store.keys.keysVersion()
    await store.tenants.changeTenant(tenantA, { suspended: true }, 'cli:test')
    const lost = await store.keys.keysVersion()
    await withClient(url, (client) =>
      client.query(`UPDATE keys_version SET version = ${before}; UPDATE tenant SET suspended = false`),
    )
    assert.notEqual(await store.keys.keysVersion(), lost)
    await store.close()
  })

  it('enters in views of branches whatever inserts events and moves the counter on (D11)', async () => {
    const url = await databases.create()
    await using store = await withTenants(await open(url))
    await publish(store, [draft({ subject: 'p', branch: 'north' })])
    await grantBranches(store, ['north'])
    await withClient(url, (client) =>
      client.query(`INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, branch, code, json)
          SELECT tenant, feed, n, n, created + n, gen_random_uuid(), subject, 'sales', CASE n WHEN 2 THEN 'north' ELSE 'south' END, code,
            replace(json, '"sequenceNumber":1', '"sequenceNumber":' || n)
          FROM event, generate_series(2, 3) AS n WHERE tenant = '${tenantA}' AND position = 1;
        UPDATE subject SET position = 3, branch = 'south', category = 'sales' WHERE tenant = '${tenantA}';
        UPDATE feed SET last_position = 3, last_sequence = 3, last_created = last_created + 10 WHERE tenant = '${tenantA}' AND feed = 1`),
    )
    await assertViews(store, ['north'])
    assert.deepEqual(numbers(await list(store, { view: branchViewName(['north'], 'all') })), [1, 2])
  })

  it('is made in a database that holds nothing but what came with an extension', async () => {
    const url = await databases.create()
    // As `CREATE EXTENSION pg_stat_statements` leaves it: a view and a function that belong to the extension.
    await withClient(url, (client) =>
      client.query(
        `CREATE VIEW statements AS SELECT 1 AS calls; ALTER EXTENSION plpgsql ADD VIEW statements`,
      ),
    )
    await using store = await withTenants(await open(url))
    await publish(store, [draft({ subject: 'p' })])
    await withClient(url, (client) => client.query('ALTER EXTENSION plpgsql DROP VIEW statements'))
  })

  it('is never created on a server that is too old, which is reported before anything is tried', () => {
    assert.equal(serverRefusal(150_018), undefined)
    assert.equal(serverRefusal(180_004), undefined)
    const refusal = serverRefusal(140_011)
    assert.equal(refusal?.code, 'old_server')
    assert.match(refusal?.message ?? '', /is PostgreSQL 14, and this program needs 15 or newer/)
  })

  it('of a store from before 0.1.0 is refused with what to do, also by a later program', async () => {
    const url = await databases.create()
    await withClient(url, async (client) => {
      // As the program of before made it: one row, without the mark.
      await client.query(`CREATE TABLE store (only_row boolean PRIMARY KEY, store_id uuid, schema_version integer, catalogue text);
        INSERT INTO store VALUES (true, gen_random_uuid(), 42, '{}')`)
      const { rows } = await client.query<{ schema: string }>('SELECT current_schema() AS schema')
      const refusal = {
        name: 'StorageRefusal',
        code: 'made_before',
        message: new RegExp(
          `schema ${rows[0]?.schema} of the database .* made before 0\\.1\\.0; begin a new one\\. Name an empty`,
        ),
      }
      await assert.rejects(open(url), refusal)
      const later = connect({ url, readConnections: 1 })
      await assert.rejects(migrate(later, undefined, { steps: laterSteps }), refusal)
      await later.close()
      assert.deepEqual((await client.query('SELECT schema_version AS v FROM store')).rows, [{ v: 42 }])
    })
    const found = await inspectDatabase(url)
    assert.ok(found.kind === 'reached')
    assert.deepEqual([found.madeBefore, found.store], [true, undefined])
  })

  it('is the one that is committed as text', async () => {
    const url = await databases.create()
    await (await open(url)).close()
    const expected = readFileSync(new URL('schema.postgres.txt', import.meta.url), 'utf8')
    assert.equal(
      await withClient(url, describePostgres),
      expected,
      'run `npm run schema` and look at what changes',
    )
  })

  it('has no relation whose rights for nodes are not said (P10)', async () => {
    const url = await databases.create()
    await (await open(url)).close()
    const { rows } = await withClient(url, (client) =>
      client.query<{ name: string }>(`SELECT relname AS name FROM pg_class c
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v', 'S')
          AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = c.oid AND deptype = 'i')`),
    )
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), Object.keys(nodeRights).toSorted())
  })

  it('of a newer program, or of another one, is refused with a sentence and left unchanged', async () => {
    const newer = await databases.create()
    await (await open(newer)).close()
    await withClient(newer, (client) => client.query('UPDATE store SET schema_version = 99'))
    await assert.rejects(open(newer), { name: 'StorageRefusal', code: 'newer_schema', message: /schema 99/ })
    const foreign = await databases.create()
    await withClient(foreign, (client) => client.query('CREATE TABLE theirs (id integer)'))
    await assert.rejects(open(foreign), { name: 'StorageRefusal', code: 'not_a_store' })
    const { rowCount } = await withClient(foreign, (client) =>
      client.query('SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace'),
    )
    assert.equal(rowCount, 1)
  })

  it('begins every key and unique index of the tables of events with the tenant', async () => {
    const url = await databases.create()
    await (await open(url)).close()
    const tables = ['feed', 'event', 'event_id', 'subject', 'view', 'view_entry']
    const { rows } = await withClient(url, (client) =>
      client.query<{ relation: string; name: string; first: string }>(
        `SELECT indrelid::regclass::text AS relation, indexrelid::regclass::text AS name,
          (SELECT attname FROM pg_attribute WHERE attrelid = indrelid AND attnum = indkey[0]) AS first
        FROM pg_index WHERE indrelid::regclass::text = ANY ($1)`,
        [tables],
      ),
    )
    assert.deepEqual([...new Set(rows.map(({ relation }) => relation))].toSorted(), tables.toSorted())
    for (const { name, first } of rows) assert.equal(first, 'tenant', name)
  })

  it('can be served by a role that may not change it', async () => {
    const url = await databases.create()
    await (await open(url)).close()
    const role = `reader_${Date.now().toString(36)}`
    await withClient(url, async (client) => {
      await client.query(`CREATE ROLE ${role} LOGIN`)
      await giveRightsOfNode(client, role)
      try {
        await using store = await withTenants(await open(url.replace('postgres@', `${role}@`)))
        await publish(store, [draft({ subject: 'p' })])
        assert.deepEqual(numbers(await list(store, { from: 0n })), [1])
        await store.startEpoch(5, 'cli:test')
      } finally {
        await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
      }
    })
  })

  it('looks up what an append needs by key, whatever statistics the planner has (P5)', async () => {
    const url = await databases.create()
    await (await withTenants(await open(url))).close()
    const database = connect({ url, readConnections: 1 })
    await database.write(async (session) => {
      // No statistics: as on a new store that fills up quickly.
      await session.script(`INSERT INTO subject (tenant, feed, subject, position, published, category, code, spelling)
        SELECT '${tenantA}', 1, gen_random_uuid(), n, true, 'sales', 'PropertyUpdated', '' FROM generate_series(1, 20000) AS n`)
      const ids = `{${Array.from({ length: 50 }, (_, n) => uuid(`s${n}`)).join(',')}}`
      const ones = `{${Array<number>(50).fill(1).join(',')}}`
      const text = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM look_up($1, $2, $3, $4, $5, $6)`
      const values = [`{${tenantA}}`, '{1}', ones, ids, ones, ids]
      const [row] = await session.query<{ 'QUERY PLAN': readonly [{ Plan: Record<string, number> }] }>(
        { name: 'explain-look-up', text },
        values,
      )
      const buffers = row?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Infinity
      assert.ok(buffers < 50 * 10, `${buffers} pages for 50 ids and 50 subjects`)
    })
    await database.close()
  })

  it('finds ids to forget without looking through the others (PROTOCOL §4.6)', async () => {
    const url = await databases.create()
    await using store = await withTenants(await open(url))
    await withClient(url, async (client) => {
      await client.query(`INSERT INTO event_id (tenant, feed, id, position, skipped)
        SELECT '${tenantA}', 1, gen_random_uuid(), n, CASE WHEN n % 100 = 0 THEN n END FROM generate_series(1, 50000) AS n`)
    })
    const database = connect({ url, readConnections: 1 })
    await database.write(async (session) => {
      const { name, text } = forgetStatement
      const explain = { name: `explain-${name}`, text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}` }
      const [row] = await session.query<{ 'QUERY PLAN': readonly [{ Plan: Record<string, number> }] }>(
        explain,
        [null, 0, 10],
      )
      const [{ Plan }] = row?.['QUERY PLAN'] ?? assert.fail('no plan')
      assert.match(JSON.stringify(Plan), /"event_id_skipped"/)
      assert.doesNotMatch(JSON.stringify(Plan), /Seq Scan|"Sort"|Bitmap/)
      const pages = (Plan['Shared Hit Blocks'] ?? Infinity) + (Plan['Shared Read Blocks'] ?? 0)
      assert.ok(pages < 10 * 10, `${pages} pages for 10 ids`)
    })
    assert.equal(await store.forgetSkippedIds(), skippedIdsPerStep)
    await database.close()
  })

  it('reads as much for the last page as for the first, and looks through nothing (P5)', async () => {
    const url = await databases.create()
    await (await withTenants(await open(url))).close()
    const count = 60_000
    const database = connect({ url, readConnections: 1 })
    await database.write(async (session) => {
      await session.script(`INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, code, json)
          SELECT '${tenantA}', 1, n, n, n * 10, gen_random_uuid(), '${uuid('p')}',
            CASE n % 2 WHEN 0 THEN 'sales' ELSE 'lettings' END, 'PropertyUpdated', '{"payload":"${'x'.repeat(200)}"}'
          FROM generate_series(1, ${count}) AS n;
        INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
          SELECT '${tenantA}', 1, category, (position + 1) / 2, position, created FROM event ORDER BY position;
        UPDATE view SET last_ordinal = ${count / 2} WHERE tenant = '${tenantA}';
        UPDATE feed SET last_position = ${count}, last_sequence = ${count}, last_created = ${count * 10}
          WHERE tenant = '${tenantA}' AND feed = 1`)
      await session.script('VACUUM ANALYZE')
      const plan = async ({ text, name }: Statement, values: readonly (string | number | null)[]) => {
        const explain = { name: `explain-${name}`, text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}` }
        let buffers = 0
        // Once to warm up: the first reading also counts what planning reads of the catalogue.
        for (let n = 0; n < 2; n += 1) {
          const [row] = await session.query<{ 'QUERY PLAN': readonly [{ Plan: Record<string, number> }] }>(
            explain,
            values,
          )
          const [{ Plan }] = row?.['QUERY PLAN'] ?? assert.fail('no plan')
          assert.doesNotMatch(JSON.stringify(Plan), /Seq Scan|"Sort"|Bitmap/, name)
          buffers = (Plan['Shared Hit Blocks'] ?? 0) + (Plan['Shared Read Blocks'] ?? 0)
        }
        return buffers
      }
      const feed = [feedKey().tenantId, 1]
      const near = (first: number, last: number, name: string): void =>
        assert.ok(last <= first * 1.2 + 3, `${name}: ${first} pages for the first, ${last} for the last`)
      const listed = (first: number): string => Array.from({ length: 100 }, (_, n) => first + n).join()
      const pairs: readonly (readonly [
        Statement,
        readonly (string | number | null)[],
        readonly (string | number | null)[],
      ])[] = [
        [readRangeStatements.all, [1, 100], [count - 99, count]],
        [readRangeStatements.view, [1, 100, 'sales'], [count / 2 - 99, count / 2, 'sales']],
        [locateStatements.all, [10, 100], [count * 10 - 100, count * 10]],
        [locateStatements.view, ['sales', 10, 100], ['sales', count * 10 - 100, count * 10]],
        [readAfterStatements.all, [0, 100], [count - 100, 100]],
        [readAfterStatements.view, [0, 50, 'sales'], [count - 100, 50, 'sales']],
        [readSubjectStatements.history, [uuid('p'), 0, 100], [uuid('p'), count - 100, 100]],
        [readSubjectStatements.latestWithin, [uuid('p'), 1, null], [uuid('p'), count, null]],
        [readRangeStatements.positions, [`{${listed(1)}}`], [`{${listed(count - 99)}}`]],
        [dueStatements.aged, [0, 100, count, null], [count - 100, count, count, null]],
        [dueStatements.superseded, [1, 101, count, null], [count - 100, count, count, null]],
      ]
      for (const [statement, first, last] of pairs) {
        const pages = [await plan(statement, [...feed, ...first]), await plan(statement, [...feed, ...last])]
        near(pages[0] ?? 0, pages[1] ?? 0, statement.name)
      }
    })
    await database.close()
  })
})
