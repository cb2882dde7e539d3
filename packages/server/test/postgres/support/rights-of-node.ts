/** Roles with the least rights that a node needs. */
import type { Client } from 'pg'
import { nodeRights } from '../../../src/store/postgres/node-rights.ts'
import { withClient } from './standby.ts'

/** In the schema that stands first in the search path. */
export async function giveRightsOfNode(client: Client, role: string): Promise<void> {
  const grants = Object.entries(nodeRights).map(
    ([relation, rights]) => `GRANT ${rights.join(', ')} ON ${relation} TO ${role};`,
  )
  await client.query(`DO $$ BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${role}', current_schema());
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO ${role}', current_schema());
  END $$;
  ${grants.join('\n')}`)
}

/** The address of the same schema for such a role, which is made if need be. */
export async function asRoleOfNode(url: string): Promise<string> {
  const role = 'property_events_test_node'
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
    if (rowCount === 0) await client.query(`CREATE ROLE ${role} LOGIN`)
    await giveRightsOfNode(client, role)
  })
  return url.replace('postgres@', `${role}@`)
}
