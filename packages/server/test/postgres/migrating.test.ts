/** A step to a later schema: with contents, beside nodes that work, by many nodes at once, and continued wherever it was interrupted. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import type { StorageEngine } from '../../src/store/storage.ts'
import { connect } from '../../src/sql/postgres/connection.ts'
import { migrate, migrations } from '../../src/store/postgres/migrate.ts'
import type { Migration } from '../../src/store/postgres/migration-steps.ts'
import { fillWithSettings } from '../../src/store/postgres/open-store.ts'
import { describePostgres } from '../store/support/describe-schema.ts'
import { draft } from '../store/support/drafts.ts'
import { list, numbers, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { laterSteps } from './support/later-step.ts'
import { withClient } from './support/standby.ts'
import { testDatabases } from './test-databases.ts'
import type { TestDatabases } from './test-databases.ts'

const settings = { catalogue: catalogues.default, startSequence: 0 }
const readState = 'SELECT schema_version, unfinished FROM store'
const upToDate = [{ schema_version: laterSteps.length, unfinished: [] }]

describe('a step to a later schema in PostgreSQL', () => {
  let databases: TestDatabases
  before(async () => {
    databases = await testDatabases()
  })
  after(() => databases[Symbol.asyncDispose]())

  function open(url: string, create = true): Promise<StorageEngine> {
    return openStorage({ kind: 'postgres', url, readConnections: 1, create, catalogue: catalogues.default })
  }

  /** As a node of the later version does it when it starts. */
  async function bringUpToDate(
    url: string,
    onWaiting?: (reason: string) => void,
    steps: readonly Migration[] = laterSteps,
    writeTimeoutMs = 10_000,
  ): Promise<void> {
    const database = connect({ url, readConnections: 1, writeTimeoutMs })
    try {
      await migrate(database, undefined, { steps, onWaiting })
    } finally {
      await database.close()
    }
  }

  /** A node of this version, with five properties. */
  async function nodeOfNow(url: string): Promise<StorageEngine> {
    const node = await withTenants(await open(url))
    await publish(
      node,
      ['a', 'b', 'c', 'd', 'e'].map((subject) => draft({ subject, text: 'Tŷ ar werth – £250,000 🏡' })),
    )
    return node
  }

  it('is made with the contents that are there, while nodes publish and a long read goes on (P1, P7)', async () => {
    const url = await databases.create()
    await using node = await nodeOfNow(url)
    await withClient(url, async (reader) => {
      // As a backup reads.
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event')
      const waiting: string[] = []
      const updating = bringUpToDate(url, (reason) => void waiting.push(reason))
      await until(() => waiting.length > 0, { what: 'the index that waits for the read' })
      await publish(node, [draft({ subject: 'f' })])
      assert.equal((await reader.query('SELECT FROM event')).rowCount, 5, 'the read goes on as it was')
      await reader.query('COMMIT')
      await updating
      assert.match(waiting.join(), /event_branch.*running nodes carry on/)
      assert.deepEqual((await reader.query(readState)).rows, upToDate)
      const { rows } = await reader.query('SELECT FROM subject WHERE noticed IS DISTINCT FROM position')
      assert.equal(rows.length, 0, 'the work for afterwards reached all subjects')
    })
    await publish(node, [draft({ subject: 'g' })])
    assert.deepEqual(numbers(await list(node)), [1, 2, 3, 4, 5, 6, 7])
    await assert.rejects(open(url, false), { name: 'StorageRefusal', code: 'newer_schema' })
  })

  it('leads to the same schema whether it is made with the store or later', async () => {
    const [atOnce, later] = [await databases.create(), await databases.create()]
    const database = connect({ url: atOnce, readConnections: 1 })
    await migrate(database, fillWithSettings(settings), { steps: laterSteps })
    await database.close()
    await (await open(later)).close()
    await bringUpToDate(later)
    const made = await withClient(atOnce, describePostgres)
    assert.match(made, /noticed bigint/)
    assert.equal(await withClient(later, describePostgres), made)
  })

  it('is made once when twenty nodes start at the same time', async () => {
    const url = await databases.create()
    await (await nodeOfNow(url)).close()
    await Promise.all(Array.from({ length: 20 }, () => bringUpToDate(url)))
    await withClient(url, async (client) => {
      assert.deepEqual((await client.query(readState)).rows, upToDate)
      assert.equal((await client.query('SELECT FROM notice')).rowCount, 2, 'one for each tenant')
    })
  })

  it('leaves the store as it was where it fails, and the next start makes it', async () => {
    const url = await databases.create()
    await using node = await nodeOfNow(url)
    await withClient(url, async (client) => {
      const before = await describePostgres(client)
      await client.query('CREATE TABLE notice (other integer)')
      await assert.rejects(bringUpToDate(url), /notice.* already exists/)
      await client.query('DROP TABLE notice')
      assert.equal(await describePostgres(client), before)
    })
    await publish(node, [draft({ subject: 'f' })])
    await bringUpToDate(url)
    assert.deepEqual(numbers(await list(node)), [1, 2, 3, 4, 5, 6])
  })

  it('continues after an interruption: an unfinished index is built again', async () => {
    const url = await databases.create()
    await (await nodeOfNow(url)).close()
    await withClient(url, async (reader) => {
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event')
      const failed = assert.rejects(bringUpToDate(url))
      await withClient(url, async (operator) => {
        const building = `FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`
        await until(async () => (await operator.query(`SELECT ${building}`)).rowCount === 1)
        await operator.query(`SELECT pg_terminate_backend(pid) ${building}`)
      })
      await failed
      await reader.query('COMMIT')
      const isValid = `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('event_branch')`
      assert.deepEqual((await reader.query(isValid)).rows, [{ valid: false }], 'what was left of it')
      await bringUpToDate(url)
      assert.deepEqual((await reader.query(isValid)).rows, [{ valid: true }])
      assert.deepEqual((await reader.query(readState)).rows, upToDate)
    })
  })

  it('continues after an interruption: what was done of repeated work stays done', async () => {
    const url = await databases.create()
    await (await nodeOfNow(url)).close()
    await withClient(url, async (client) => {
      await client.query(`CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'cut off'; END $$;
        CREATE TRIGGER stop BEFORE UPDATE ON subject FOR EACH ROW WHEN (old.position = 4) EXECUTE FUNCTION stop()`)
      await assert.rejects(bringUpToDate(url), /cut off/)
      const unfinished = [{ schema_version: laterSteps.length, unfinished: ['subject_noticed'] }]
      assert.deepEqual((await client.query(readState)).rows, unfinished)
      const noticed = 'SELECT position::integer AS n FROM subject WHERE noticed IS NOT NULL ORDER BY position'
      assert.deepEqual((await client.query(noticed)).rows, [{ n: 1 }, { n: 2 }])
      await client.query('DROP TRIGGER stop ON subject; DROP FUNCTION stop')
      await bringUpToDate(url)
      assert.equal((await client.query(noticed)).rowCount, 5)
      assert.deepEqual((await client.query(readState)).rows, upToDate)
    })
  })

  it('is not made by a role that may not: the sentence names the owner and what to run', async () => {
    const url = await databases.create()
    await (await nodeOfNow(url)).close()
    await withClient(url, async (client) => {
      const { rows } = await client.query<{ name: string }>('SELECT current_schema() AS name')
      const name = rows[0]?.name ?? ''
      const role = `node_${Date.now().toString(36)}`
      await client.query(`CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${name} TO ${role};
        GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${name} TO ${role}`)
      try {
        await assert.rejects(bringUpToDate(url.replace('postgres@', `${role}@`)), {
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

  it('gives its new tables to roles that publish, and to no role that only reads (P10)', async () => {
    const url = await databases.create()
    await (await nodeOfNow(url)).close()
    const suffix = Date.now().toString(36)
    const [node, reporter] = [`publisher_${suffix}`, `reporter_${suffix}`]
    await withClient(url, async (client) => {
      await client.query(`CREATE ROLE ${node}; CREATE ROLE ${reporter};
        GRANT SELECT, INSERT, UPDATE ON feed TO ${node}; GRANT SELECT ON feed TO ${reporter}`)
      await bringUpToDate(url)
      try {
        const { rows } = await client.query<{ role: string; writes: boolean }>(
          `SELECT role, has_table_privilege(role, 'notice', 'INSERT') AS writes FROM unnest($1::text[]) AS role`,
          [[node, reporter]],
        )
        assert.deepEqual(rows, [
          { role: node, writes: true },
          { role: reporter, writes: false },
        ])
      } finally {
        await client.query(`DROP OWNED BY ${node}, ${reporter}; DROP ROLE ${node}, ${reporter}`)
      }
    })
  })

  it('may take longer than a commit may, and a node that starts meanwhile says so and waits', async () => {
    const url = await databases.create()
    await (await open(url)).close()
    using folder = temporaryFolder()
    const file = join(folder.path, 'slow.sql')
    // Twice the limit of a commit: that time passes is what is tested.
    writeFileSync(file, 'SELECT pg_sleep(6)')
    const steps = [...migrations, { files: [pathToFileURL(file)] }]
    const waiting: string[] = []
    const onWaiting = (reason: string): void => void waiting.push(reason)
    const first = bringUpToDate(url, onWaiting, steps, 3_000)
    await until(async () => {
      const { rows } = await withClient(url, (client) =>
        client.query(
          "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(6)%' AND pid <> pg_backend_pid() AND state = 'active'",
        ),
      )
      return rows.length > 0
    })
    // In the middle of the step.
    await Promise.all([first, bringUpToDate(url, onWaiting, steps, 3_000)])
    assert.deepEqual(waiting, [
      'Another process is making this store, or bringing it up to date: waiting for it.',
    ])
    const { rows } = await withClient(url, (client) => client.query('SELECT schema_version FROM store'))
    assert.deepEqual(rows, [{ schema_version: steps.length }])
  })
})
