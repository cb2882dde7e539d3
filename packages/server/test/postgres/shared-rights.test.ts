/** What a migration gives to the roles of nodes, for tables that it adds. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { openStorage } from '../../src/storage/open-storage.ts'
import { withClient } from './support/standby.ts'
import { sharedDatabases } from './test-databases.ts'

describe('a table that a migration adds', () => {
  it('is written by roles that publish, and by no role that only reads (P10)', async () => {
    const url = await (await sharedDatabases()).create()
    const storage = await openStorage({ kind: 'postgres', url, create: true, catalogue: catalogues.default })
    await storage.close()
    const suffix = randomBytes(6).toString('hex')
    const [node, reporter] = [`node_${suffix}`, `reporter_${suffix}`]
    await withClient(url, async (client) => {
      await client.query(`CREATE ROLE ${node}; CREATE ROLE ${reporter};
        GRANT SELECT, INSERT, UPDATE ON feed TO ${node}; GRANT SELECT ON feed TO ${reporter};
        CREATE TABLE added (n integer); SELECT share_with_nodes('added', 'SELECT, INSERT')`)
      try {
        const { rows } = await client.query<{ role: string; writes: boolean }>(
          `SELECT role, has_table_privilege(role, 'added', 'INSERT') AS writes FROM unnest($1::text[]) AS role`,
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
})
