import { randomUUID } from 'node:crypto'
import { uuidV7 } from '@property-events/protocol'
import type { StorageEngine } from '../../src/index.ts'

/** A tenant of its own that is being deleted, and waits for an export that nobody writes. Answers the id of the deletion. */
export async function openDeletion({ deletions, tenants }: StorageEngine): Promise<string> {
  const tenantId = randomUUID()
  const tenant = { tenantId, name: tenantId, createdMs: 0, suspended: true }
  await tenants.createTenant(tenant, 'cli:test')
  const request = { deletionId: uuidV7(Date.now()), tenantId, export: 'caller' } as const
  const outcome = await deletions.begin(request, 'cli:test')
  if (outcome.kind !== 'begun') throw new Error(`it did not begin: ${outcome.kind}`)
  return outcome.deletion.deletionId
}
