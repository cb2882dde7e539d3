/** What is found out about a database before a node is sent there. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { inspectDatabase } from '../../src/store/postgres/inspect-database.ts'
import type { ReachedDatabase } from '../../src/store/postgres/inspect-database.ts'
import { probeSessions } from '../../src/store/postgres/probe-sessions.ts'
import { launchPostgres } from './launch-postgres.ts'
import type { LaunchedPostgres } from './launch-postgres.ts'
import { giveRightsOfNode } from './support/rights-of-node.ts'
import { withClient } from './support/standby.ts'

describe('an inspection of a database', () => {
  let server: LaunchedPostgres
  before(async () => {
    server = await launchPostgres()
  })
  after(() => server[Symbol.asyncDispose]())

  async function reached(url: string): Promise<ReachedDatabase> {
    const found = await inspectDatabase(url)
    assert.equal(found.kind, 'reached')
    return found
  }

  it('names every right that a role lacks, and none once it has those of the table of rights', async () => {
    const store = await openStorage({
      kind: 'postgres',
      url: server.url(),
      create: true,
      catalogue: catalogues.default,
    })
    await store.close()
    await withClient(server.url(), (client) => client.query('CREATE ROLE node LOGIN'))
    const url = server.url().replace('postgres@', 'node@')
    const without = (await reached(url)).store?.missingPrivileges ?? []
    assert.ok(
      without.includes('UPDATE on feed') && without.includes('UPDATE on answered_until'),
      without.join(),
    )
    await withClient(server.url(), (client) => giveRightsOfNode(client, 'node'))
    assert.deepEqual((await reached(url)).store?.missingPrivileges, [])
    await withClient(server.url(), (client) => client.query('REVOKE ALL ON keys_version FROM node, PUBLIC'))
    assert.deepEqual((await reached(url)).store?.missingPrivileges, ['SELECT on keys_version'])
    await withClient(server.url(), (client) =>
      client.query('GRANT SELECT ON keys_version TO node; REVOKE UPDATE ON hold FROM node'),
    )
    assert.deepEqual((await reached(url)).store?.missingPrivileges, ['UPDATE on hold'])
    await withClient(server.url(), (client) => client.query('GRANT UPDATE ON hold TO node'))

    // As in databases where functions are not everybody's to call; one of an extension is none of a node's business.
    await withClient(server.url(), (client) =>
      client.query(`REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM node;
        CREATE FUNCTION of_an_extension() RETURNS void LANGUAGE sql AS '';
        ALTER EXTENSION plpgsql ADD FUNCTION of_an_extension();
        REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC;`),
    )
    const uncallable = (await reached(url)).store?.missingPrivileges ?? []
    const called = [
      'look_up',
      'append_event',
      'append_events',
      'lock_feeds',
      'settle_window',
      'reserve_time',
      'position_at',
      'incarnation',
    ]
    for (const name of called) assert.ok(uncallable.includes(`EXECUTE on ${name}`), uncallable.join())
    assert.ok(!uncallable.includes('EXECUTE on of_an_extension'))
    await withClient(server.url(), (client) =>
      client.query('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO node'),
    )
    assert.deepEqual((await reached(url)).store?.missingPrivileges, [])
  })

  it('sees settings under which a power cut destroys what was acknowledged (P7)', async () => {
    assert.deepEqual(durabilityOf(await reached(server.url())), [true, true, false])
    await server.halt('fast')
    await server.start({ fsync: 'off', full_page_writes: 'off', synchronous_standby_names: 'elsewhere' })
    assert.deepEqual(durabilityOf(await reached(server.url())), [false, false, true])
  })

  it('distinguishes a session of its own from one that clients share', async () => {
    await withClient(server.url(), async (one) => {
      await withClient(server.url(), async (two) => {
        assert.deepEqual(await probeSessions(one, two, 'apart', false), {
          keepsSessions: true,
          deliversMessages: true,
        })
      })
      // What a pooler between transactions makes of two clients.
      assert.equal((await probeSessions(one, one, 'shared', false)).keepsSessions, false)
    })
  })

  it('of one that is not there gives the reason and the code, and ends', async () => {
    const found = await inspectDatabase(server.url('nowhere'))
    assert.ok(found.kind === 'unreachable')
    assert.equal(found.code, '3D000')
  })
})

function durabilityOf({ fsync, fullPageWrites, hasSynchronousStandby }: ReachedDatabase): readonly boolean[] {
  return [fsync, fullPageWrites, hasSynchronousStandby]
}
