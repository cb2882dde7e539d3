/** The schema: made once by many nodes, brought up to date with data in it, and cheap to read at any depth. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { StorageEngine } from '../../src/storage/storage.ts'
import { skippedIdsPerStep } from '../../src/storage/skipped-ids.ts'
import { fillFromBackup } from '../../src/storage/postgres/backup.ts'
import { connect } from '../../src/storage/postgres/connection.ts'
import type { Statement } from '../../src/storage/postgres/connection.ts'
import { readFirst } from '../../src/storage/postgres/feed-reading.ts'
import { dueStatements } from '../../src/storage/postgres/due-events.ts'
import { locateStatements } from '../../src/storage/postgres/locate.ts'
import { migrate, migrations } from '../../src/storage/postgres/migrate.ts'
import { readAfterStatements } from '../../src/storage/postgres/read-after.ts'
import { readRangeStatements } from '../../src/storage/postgres/read-range.ts'
import { readSubjectStatements } from '../../src/storage/postgres/read-subject.ts'
import { forgetStatement } from '../../src/storage/postgres/skipped-ids.ts'
import { serverRefusal } from '../../src/storage/postgres/server-version.ts'
import { fillWithSettings } from '../../src/storage/postgres/store-row.ts'
import { branchViewName } from '../../src/storage/storage.ts'
import { assertViews, grantBranches, recordsOf } from '../storage/support/branch-views.ts'
import { draft, feedKey, removal, tenantA, uuid } from '../storage/support/drafts.ts'
import { list, numbers, publish } from '../storage/support/read-back.ts'
import { assertCounted, liveCount } from '../storage/support/recount.ts'
import { withTenants } from '../storage/support/stores.ts'
import { testClock } from '../storage/support/test-clock.ts'
import { temporaryFolder } from '../storage/support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { withClient } from './support/standby.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

/** So many days from now, as a clock is set. */
function textIn(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)
}

const settings = { catalogue: catalogues.default, startSequence: 0 }

/** The last schema whose step builds an index beside nodes that run; it waits for reads that are under way. */
const lastWithIndex =
  migrations.findLastIndex(({ afterwards = [] }) => afterwards.some(({ kind }) => kind === 'index')) + 1

/** Whose step counts the subjects of feeds that are there. */
const schemaOfLiveCounts =
  migrations.findIndex(({ afterwards = [] }) => afterwards.some(({ name }) => name === 'feed_live_counts')) +
  1

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'

/** The earlier schemas to begin with: all in the long run; else the first, the last, those about the last index, and some between. */
const earlierSchemas = migrations
  .map((_, index) => index + 1)
  .filter((version) => {
    const isEdge = version >= migrations.length - 1 || Math.abs(version - lastWithIndex) <= 1
    return isLong || isEdge || version % 6 === 1
  })

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
    await store.keys.createTenant(
      { tenantId: tenantA, name: 'A', createdMs: 0, suspended: false },
      'cli:test',
    )
    const before = await store.keys.keysVersion()
    await store.keys.setTenantSuspended(tenantA, true, 'cli:test')
    const lost = await store.keys.keysVersion()
    await withClient(url, (client) =>
      client.query(`UPDATE keys_version SET version = ${before}; UPDATE tenant SET suspended = false`),
    )
    assert.notEqual(await store.keys.keysVersion(), lost)
    await store.close()
  })

  it('is brought up to date from earlier ones, with its contents, while it is read', async () => {
    for (const version of earlierSchemas) {
      const url = await databases.create()
      const old = connect({ url, readConnections: 1 })
      const steps = migrations.slice(0, version)
      await migrate(old, fillWithSettings(settings), { steps })
      await old.close()
      await withClient(url, async (client) => {
        const subject = uuid('old')
        await client.query(`INSERT INTO tenant (tenant, name, created_ms, suspended) VALUES ('${tenantA}', 'A', 0, false);
          INSERT INTO feed VALUES ('${tenantA}', 1, 'first', 0, 0, 1, 1, 17000000000000000);
          INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, code, json) VALUES
            ('${tenantA}', 1, 1, 1, 17000000000000000, '${subject}', '${subject}', 'sales', 'PropertyPublished',
            '{"sequenceNumber":1,"transactionId":"${subject}","payload":"{}"}');
          INSERT INTO view VALUES ('${tenantA}', 1, 'sales', '', 1), ('${tenantA}', 1, 'lettings', '', 0);
          INSERT INTO view_entry (tenant, feed, view, ordinal, position, created)
            VALUES ('${tenantA}', 1, 'sales', 1, 1, 17000000000000000);
          INSERT INTO subject (tenant, feed, subject, position, published, category, code)
            VALUES ('${tenantA}', 1, '${subject}', 1, true, 'sales', 'PropertyPublished')`)
        await client.query(`INSERT INTO key (key_id, secret_hash, pepper_id, label, operator, created_ms)
          VALUES ('k', '\\x00', 'p', 'l', true, 1)`)
        // A long read is under way, as a backup would be.
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event')
        const waiting: string[] = []
        const opening = openStorage({
          kind: 'postgres',
          url,
          readConnections: 1,
          create: false,
          onWaiting: (reason) => void waiting.push(reason),
        })
        if (version < lastWithIndex) {
          await until(() => waiting.length > 0, { what: 'the index that waits for the read' })
          // Meanwhile nodes of the version before write to the tables, and nobody makes them wait.
          await withClient(url, (node) =>
            node.query(`SET statement_timeout = 2000; INSERT INTO event_id (tenant, feed, id, position)
              VALUES ('${tenantA}', 1, '${uuid('meanwhile')}', 1); UPDATE event SET branch = branch`),
          )
          assert.equal((await client.query('SELECT FROM event')).rowCount, 1, 'the read goes on as it was')
          await client.query('COMMIT')
        }
        await using store = await opening
        assert.deepEqual(numbers(await list(store)), [1])
        assert.equal((await store.keys.findKey('k'))?.record.rate, undefined)
        assert.equal(await store.keys.setKeyRate('k', { perSecond: 1, burst: 2 }, 'cli:test'), 'done')
        assert.deepEqual((await store.keys.keys())[0]?.rate, { perSecond: 1, burst: 2 })
        const [line] = await publish(store, [draft({ subject: 'old' })])
        assert.equal(line?.eventTypeShortCode, 'PropertyUpdated')
        if (version < schemaOfLiveCounts) {
          assert.deepEqual(
            (await store.events.counts(tenantA)).map(({ live }) => live),
            [1],
          )
        }
        if (version >= lastWithIndex) {
          assert.equal((await client.query('SELECT FROM event')).rowCount, 1, 'the read goes on as it was')
        }
      })
    }
  })

  it('counts the subjects of earlier feeds while nodes publish to them, and misses none (PROTOCOL §12.5)', async () => {
    const url = await databases.create()
    await using store = await withTenants(await open(url))
    const names = Array.from({ length: 60 }, (_, n) => `subject ${n}`)
    await publish(
      store,
      names.map((subject) => draft({ subject })),
    )
    // As the step leaves feeds that were there: with the change since, which is none yet.
    await withClient(url, (client) => client.query('UPDATE feed SET live_counted = false, live_count = 0'))
    assert.equal(await liveCount(store, feedKey()), undefined)
    await publish(store, [removal({ subject: 'subject 0' })])
    const publishing = (async () => {
      for (const subject of names.slice(1, 25)) {
        await publish(store, [removal({ subject }), draft({ subject: `${subject} again` })])
        await publish(store, [removal({ subject: `${subject} again` })])
      }
    })()
    await withClient(url, async (client) => {
      for (let done = 1; done > 0;) {
        const { rows } = await client.query<{ done: number }>('SELECT count_live_subjects(1) AS done')
        done = rows[0]?.done ?? 0
      }
    })
    await publishing
    assert.equal(await liveCount(store, feedKey()), 35)
    await assertCounted(store, feedKey())
  })

  it('continues after an interruption: an unfinished index is built again', async () => {
    const url = await databases.create()
    const old = connect({ url, readConnections: 1 })
    await migrate(old, fillWithSettings(settings), { steps: migrations.slice(0, 1) })
    await old.close()
    await withClient(url, async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event')
      const waiting: string[] = []
      const database = connect({ url, readConnections: 1 })
      const cutOff = migrate(database, undefined, { onWaiting: (reason) => void waiting.push(reason) })
      const failed = assert.rejects(cutOff)
      await withClient(url, async (operator) => {
        const building = `FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`
        await until(async () => (await operator.query(`SELECT ${building}`)).rowCount === 1)
        await operator.query(`SELECT pg_terminate_backend(pid) ${building}`)
      })
      await failed
      await database.close()
      assert.match(waiting.join(), /event_subject.*running nodes carry on/)
      await client.query('COMMIT')
      const isValid = `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('event_subject')`
      assert.deepEqual((await client.query(isValid)).rows, [{ valid: false }], 'what was left of it')
      await (await open(url, false)).close()
      assert.deepEqual((await client.query(isValid)).rows, [{ valid: true }])
      const { rows } = await client.query('SELECT schema_version, unfinished FROM store')
      assert.deepEqual(rows, [{ schema_version: migrations.length, unfinished: [] }])
    })
  })

  it('is the same whether it was created at once or brought up to date step by step', async () => {
    const shapeOf = async (first: number): Promise<unknown> => {
      const url = await databases.create()
      const old = connect({ url, readConnections: 1 })
      await migrate(old, fillWithSettings(settings), { steps: migrations.slice(0, first) })
      await old.close()
      await (await open(url, false)).close()
      return withClient(url, async (client) => {
        const indexes = `SELECT replace(indexdef, current_schema() || '.', '') AS text FROM pg_indexes WHERE schemaname = current_schema()`
        const columns = `SELECT table_name || ' ' || column_name || ' ' || data_type || is_nullable AS text
          FROM information_schema.columns WHERE table_schema = current_schema()`
        const functions = `SELECT proname || ' ' || md5(prosrc) || proargtypes::text AS text FROM pg_proc
          WHERE pronamespace = current_schema()::regnamespace`
        const all = `SELECT text FROM (${indexes} UNION ALL ${columns} UNION ALL ${functions}) AS parts ORDER BY text`
        return (await client.query<{ text: string }>(all)).rows.map(({ text }) => text)
      })
    }
    const made = await shapeOf(migrations.length)
    for (const first of earlierSchemas) {
      if (first < migrations.length) assert.deepEqual(await shapeOf(first), made)
    }
  })

  it('enters in views of branches what a node of any version appends, whatever function it knows (D11)', async () => {
    const url = await databases.create()
    await using store = await withTenants(await open(url))
    await publish(store, [draft({ subject: 'p', branch: 'north' })])
    await grantBranches(store, ['north'])
    const [before] = await recordsOf(store)
    await withClient(url, async (client) => {
      // As a node of version 3 does it, and then whatever inserts an event and moves the counter on.
      const { rows } = await client.query(
        `SELECT status FROM append_event($1, 1::smallint, 0, false, $2, $3, 1, 'lettings', 'north', 'PropertyUpdated', true, NULL,
          NULL, NULL, '{"sequenceNumber":', ',"transactionId":"","payload":"{}","createdDate":"', '"}', NULL, NULL, 0)`,
        [tenantA, uuid('by an old node'), before?.subjectId],
      )
      assert.deepEqual(rows, [{ status: 'appended' }])
      await client.query(`INSERT INTO event (tenant, feed, position, sequence, created, id, subject, category, branch, code, json)
          SELECT tenant, feed, n, n, created + n, gen_random_uuid(), subject, 'sales', CASE n WHEN 3 THEN 'north' ELSE 'south' END, code,
            replace(json, '"sequenceNumber":2', '"sequenceNumber":' || n)
          FROM event, generate_series(3, 4) AS n WHERE tenant = '${tenantA}' AND position = 2;
        UPDATE subject SET position = 4, branch = 'south', category = 'sales' WHERE tenant = '${tenantA}';
        UPDATE feed SET last_position = 4, last_sequence = 4, last_created = last_created + 10 WHERE tenant = '${tenantA}' AND feed = 1`)
    })
    await assertViews(store, ['north'])
    assert.deepEqual(numbers(await list(store, { view: branchViewName(['north'], 'all') })), [1, 2, 3])
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

  it('is not changed by a role that may not: the sentence names the owner and what to run', async () => {
    const url = await databases.create()
    const old = connect({ url, readConnections: 1 })
    await migrate(old, fillWithSettings(settings), { steps: migrations.slice(0, 3) })
    await old.close()
    await withClient(url, async (client) => {
      const { rows } = await client.query<{ name: string }>('SELECT current_schema() AS name')
      const name = rows[0]?.name ?? ''
      const role = `node_${Date.now().toString(36)}`
      await client.query(`CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${name} TO ${role};
        GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${name} TO ${role}`)
      try {
        await assert.rejects(open(url.replace('postgres@', `${role}@`), false), {
          name: 'StorageRefusal',
          code: 'not_permitted',
          message: new RegExp(
            `the role ${role} may not do\\. Run any command of this version once as postgres`,
          ),
        })
      } finally {
        await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
      }
    })
  })

  it('is never created on a server that is too old, which is reported before anything is tried', () => {
    assert.equal(serverRefusal(150_018), undefined)
    assert.equal(serverRefusal(180_004), undefined)
    const refusal = serverRefusal(140_011)
    assert.equal(refusal?.code, 'old_server')
    assert.match(refusal?.message ?? '', /is PostgreSQL 14, and this program needs 15 or newer/)
  })

  it('gives ids that were skipped under an earlier one 30 days from the upgrade on, as a store and as a backup of one (PROTOCOL §4.6)', async () => {
    const url = await databases.create()
    const file = join(mkdtempSync(join(tmpdir(), 'property-events-test-')), 'backup')
    await using store = await withTenants(await open(url))
    await publish(store, [
      draft({ subject: 'p', id: 'own', text: 'a' }),
      draft({ subject: 'q', id: 'other' }),
    ])
    const skipped = draft({ subject: 'p', id: 'skipped', text: 'a' })
    await publish(store, [skipped], { unchanged: 'skip' })
    // As a backup of version 4 says it.
    await store.backup(file)
    const lines = readFileSync(file, 'utf8')
      .replace(/"schema_version":\d+/, '"schema_version":4')
      .replaceAll(/,"skipped":(null|\d+)/g, '')
      // Two tenants were made, and the audit came later.
      .replace(/audit\n(?:\{.*\n){2}[^]*end (\d+)/, (_, count) => `end ${Number(count) - 2}`)
    writeFileSync(file, lines)
    const upgraded = await databases.create()
    const old = connect({ url: upgraded, readConnections: 1 })
    await migrate(old, await fillFromBackup(file), { steps: migrations.slice(0, 4) })
    await old.close()

    const restored = await databases.create()
    for (const place of [{ url: upgraded }, { url: restored, file }]) {
      const { clock, set } = testClock('2026-01-01')
      await using now = await openStorage({ kind: 'postgres', create: false, clock, ...place })
      await now.startEpoch(10, 'cli:test')
      set(textIn(29))
      assert.equal(await now.forgetSkippedIds(), 0)
      assert.equal((await publish(now, [skipped]))[0]?.status, 'repeated')
      set(textIn(31))
      assert.equal(await now.forgetSkippedIds(), 1)
      assert.equal((await publish(now, [skipped], { unchanged: 'skip' }))[0]?.status, 'unchanged')
      const own = draft({ subject: 'p', id: 'own', text: 'a' })
      assert.equal((await publish(now, [own]))[0]?.status, 'repeated')
    }
  })

  it('may take longer to bring up to date than a commit may, and a node that starts meanwhile says so and waits', async () => {
    const url = await databases.create()
    await (await open(url)).close()
    using folder = temporaryFolder()
    const file = join(folder.path, 'slow.sql')
    // Twice the limit of a commit: that time passes is what is tested.
    writeFileSync(file, 'SELECT pg_sleep(6)')
    const steps = [...migrations, { files: [pathToFileURL(file)] }]
    const waiting: string[] = []
    const onWaiting = (reason: string): void => void waiting.push(reason)
    const limits = { readConnections: 1, writeTimeoutMs: 3_000 }
    const [one, two] = [connect({ url, ...limits }), connect({ url, ...limits })]
    const first = migrate(one, undefined, { steps, onWaiting })
    await until(async () => {
      const { rows } = await withClient(url, (client) =>
        client.query(
          "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(6)%' AND pid <> pg_backend_pid() AND state = 'active'",
        ),
      )
      return rows.length > 0
    })
    // In the middle of the step.
    await Promise.all([first, migrate(two, undefined, { steps, onWaiting })])
    assert.deepEqual(waiting, [
      'Another process is making this store, or bringing it up to date: waiting for it.',
    ])
    const { rows } = await withClient(url, (client) => client.query('SELECT schema_version FROM store'))
    assert.deepEqual(rows, [{ schema_version: steps.length }])
    await Promise.all([one.close(), two.close()])
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
      await client.query(`CREATE ROLE ${role} LOGIN;
        DO $$ BEGIN
          EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${role}', current_schema());
          EXECUTE format('GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA %I TO ${role}', current_schema());
          GRANT DELETE ON node, event_id, lost_number, leaving_tenant, view, view_entry, branch_set, branch_of_set, branch_latest, actor_name, usage_hour, usage_day, published, refusal, refusal_hour, consumer, consumer_view, consumer_sent, consumer_refusal, consumer_result, login_link, console_session, presence TO ${role};
          EXECUTE format('GRANT SELECT, UPDATE, USAGE ON ALL SEQUENCES IN SCHEMA %I TO ${role}', current_schema());
        END $$`)
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

  it('that waited for a new epoch still does when it is brought up to date, for each feed concerned (D13)', async () => {
    const url = await databases.create()
    const old = connect({ url, readConnections: 1 })
    await migrate(old, fillWithSettings(settings), { steps: migrations.slice(0, 10) })
    await old.close()
    await withClient(url, (client) =>
      client.query(`INSERT INTO tenant (tenant, name, created_ms, suspended) VALUES ('${tenantA}', 'A', 0, false);
        INSERT INTO feed VALUES ('${tenantA}', 1, 'first', 6, 0, 0), ('${tenantA}', 2, 'second', 6, 0, 0);
        INSERT INTO view VALUES ('${tenantA}', 1, 'sales', '', 0), ('${tenantA}', 1, 'lettings', '', 0);
        UPDATE store SET needs_epoch = true, first_offset = 6`),
    )
    await using store = await open(url, false)
    const asked = { key: feedKey(), drafts: [draft({ subject: 'p' })], unchanged: 'store' } as const
    assert.deepEqual(await store.events.append([asked]), [{ kind: 'epochRequired' }])
    assert.deepEqual(
      (await store.waitingFeeds()).map(({ heldNumber }) => heldNumber),
      [6, 6],
    )
    await store.startEpoch(0, 'cli:test', [feedKey()])
    const [line] = await publish(store, [draft({ subject: 'p' })])
    assert.equal(line?.stored?.sequenceNumber, 7)
    assert.equal(await store.epochNeed(), 'some')
    // A node of the version before, which finds a loss, stops the whole store: that is still understood.
    await withClient(url, (client) => client.query('UPDATE store SET needs_epoch = true'))
    assert.deepEqual(await store.events.append([asked]), [{ kind: 'epochRequired' }])
    await store.startEpoch(0, 'cli:test')
    assert.equal(await store.epochNeed(), 'none')
  })

  it('can still be served after it is brought up to date, by a role that was granted its rights before', async () => {
    const url = await databases.create()
    const old = connect({ url, readConnections: 1 })
    await migrate(old, fillWithSettings(settings), { steps: migrations.slice(0, 8) })
    await old.close()
    const role = `before_${Date.now().toString(36)}`
    await withClient(url, async (client) => {
      await client.query(`CREATE ROLE ${role} LOGIN;
        DO $$ BEGIN
          EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${role}', current_schema());
          EXECUTE format('GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA %I TO ${role}', current_schema());
          EXECUTE format('GRANT SELECT, UPDATE, USAGE ON ALL SEQUENCES IN SCHEMA %I TO ${role}', current_schema());
        END $$`)
      try {
        await (await open(url, false)).close()
        await using store = await withTenants(await open(url.replace('postgres@', `${role}@`)))
        await publish(store, [draft({ subject: 'p' })])
        await store.nodes.announce({
          nodeId: uuid('node'),
          place: 'here',
          pepperIds: ['one'],
          ignoresProxy: false,
        })
        assert.equal((await store.nodes.live()).length, 1)
        assert.equal((await store.nodes.finishPepper('one', 'cli:test')).kind, 'finished')
        await store.nodes.retire(uuid('node'))
        assert.equal(await store.forgetSkippedIds(), 0)
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
      await session.script(`INSERT INTO subject (tenant, feed, subject, position, published, category, code)
        SELECT '${tenantA}', 1, gen_random_uuid(), n, true, 'sales', 'PropertyUpdated' FROM generate_series(1, 20000) AS n`)
      const ids = `{${Array.from({ length: 50 }, (_, n) => uuid(`s${n}`)).join(',')}}`
      const ones = `{${Array<number>(50).fill(1).join(',')}}`
      const text = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM look_up_3($1, $2, $3, $4, $5, $6)`
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

  it('finds the first event of a subject by key (P5)', async () => {
    const url = await databases.create()
    await (await withTenants(await open(url))).close()
    const database = connect({ url, readConnections: 1 })
    await database.write(async (session) => {
      // The subjects that are asked for come last in the feed.
      await session.script(`INSERT INTO event (tenant, feed, position, sequence, created, id, subject, code, json)
        SELECT '${tenantA}', 1, n, n, n, gen_random_uuid(), gen_random_uuid(), '', '' FROM generate_series(1, 20000) AS n`)
      const wanted = `{${Array.from({ length: 50 }, (_, n) => uuid(`s${n}`)).join(',')}}`
      for (const start of [20_000, 20_050]) {
        await session.script(`INSERT INTO event (tenant, feed, position, sequence, created, id, subject, code, json)
          SELECT '${tenantA}', 1, ${start} + n, ${start} + n, ${start} + n, gen_random_uuid(), subject, '', '${start}'
          FROM unnest('${wanted}'::uuid[]) WITH ORDINALITY AS s (subject, n)`)
      }
      await session.script('ANALYZE event')
      const ones = `{${Array<number>(50).fill(1).join(',')}}`
      const values = [ones, `{${Array<string>(50).fill(tenantA).join(',')}}`, ones, wanted]
      const rows = await session.query<{ json: string }>(readFirst, values)
      assert.deepEqual(
        rows.map(({ json }) => json),
        Array(50).fill('20000'),
      )
      const text = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${readFirst.text}`
      const [row] = await session.query<{ 'QUERY PLAN': readonly [{ Plan: Record<string, number> }] }>(
        { name: 'explain-read-first', text },
        values,
      )
      const buffers = row?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Infinity
      assert.ok(buffers < 50 * 12, `${buffers} pages for the first events of 50 subjects`)
    })
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
