/**
 * What nodes have noted about requests, and the intervals expected of consumers and publishers, for a copy of a store or of one tenant.
 */
import type { Actor, StorageEngine } from '@property-events/server'
import { copyConsumers } from './copy-consumers.ts'
import { copyExpected } from './copy-expected.ts'
import { copySent } from './copy-sent.ts'

/** Call it after the keys have been copied. It can be repeated. `actor` makes the copy. `tenantId`: copies only what concerns this tenant. */
export async function copyNoted(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
  tenantId?: string,
): Promise<void> {
  await copySent(from, to, tenantId)
  await copyConsumers(from, to, tenantId)
  await copyExpected(from, to, actor, tenantId)
}
