/** What a node's sessions and calls say to the database, where nothing of it shows in an answer. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { draft } from '../store/support/drafts.ts'
import { list, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { launchPostgres } from './launch-postgres.ts'
import { putGates } from './support/gates.ts'
import { withClient } from './support/standby.ts'

const opened = (url: string) =>
  openStorage({ kind: 'postgres', url, readConnections: 1, create: true, catalogue: catalogues.default })

const oneOrTwo = [['one event', 1] as const, ['several events', 2] as const]

describe('a session that publishes', () => {
  it('waits for the disk, even if the server says that commits need not (P7)', async () => {
    await using server = await launchPostgres()
    await withClient(server.url(), async (client) => {
      await client.query('ALTER SYSTEM SET synchronous_commit = off')
      await client.query('SELECT pg_reload_conf()')
    })
    await withClient(server.url(), async (client) => {
      const { rows } = await client.query<{ setting: string }>(
        "SELECT current_setting('synchronous_commit') AS setting",
      )
      assert.equal(rows[0]?.setting, 'off', 'what any other session gets')
    })
    await using store = await withTenants(await opened(server.url()))
    await using gates = await putGates(server.url())
    await gates.query('CREATE TABLE seen (setting text)')
    await gates.wrapAppend(
      (call) => `INSERT INTO seen SELECT current_setting('synchronous_commit'); RETURN QUERY ${call};`,
    )
    for (const [, events] of oneOrTwo) {
      await publish(
        store,
        Array.from({ length: events }, (_, n) => draft({ subject: `${events} ${n}` })),
      )
    }
    assert.deepEqual(await gates.query('SELECT setting, count(*)::int FROM seen GROUP BY setting'), [
      { setting: 'on', count: 2 },
    ])
  })
})

describe('an append that was planned before the stored payloads were reduced', () => {
  for (const [what, events] of oneOrTwo) {
    it(`is planned again, with ${what} (D17)`, async () => {
      await using server = await launchPostgres()
      await using store = await withTenants(await opened(server.url()))
      await using gates = await putGates(server.url())
      await gates.query('CREATE SEQUENCE calls')
      await gates.wrapAppend((call) => `PERFORM nextval('calls'); RETURN QUERY ${call};`)
      const drafts = () => Array.from({ length: events }, (_, n) => draft({ subject: `s ${n}` }))
      const callsOf = async (run: () => Promise<unknown>): Promise<number> => {
        const calls = async () => {
          const [row] = await gates.query(
            'SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS calls FROM calls',
          )
          return Number(row?.['calls'])
        }
        const earlier = await calls()
        await run()
        return (await calls()) - earlier
      }
      await publish(store, drafts())
      assert.equal(await callsOf(() => publish(store, drafts())), 1, 'what the node remembers is enough')
      await gates.query('UPDATE feed SET revision = revision + 1')
      assert.equal(await callsOf(() => publish(store, drafts())), 2, 'refused once as stale')
      assert.equal((await list(store)).length, 3 * events)
    })
  }
})
