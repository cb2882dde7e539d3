/** What nodes have noted of requests, and what is expected of consumers and publishers, for a copy of a store or of one tenant. */
import type { Actor, StorageEngine } from '@property-events/server'
import { copyConsumers } from './copy-consumers.ts'
import { copyExpected } from './copy-expected.ts'
import { copySent } from './copy-sent.ts'

/** When the keys are there. It can be made again. `actor`: who copies. `tenantId`: of this tenant alone. */
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
