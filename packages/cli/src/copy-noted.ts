/** What nodes have noted of requests, for a copy of a store or of one tenant. */
import type { StorageEngine } from '@property-events/server'
import { copyConsumers } from './copy-consumers.ts'
import { copySent } from './copy-sent.ts'

/** When the keys are there. It can be made again. `tenantId`: of this tenant alone. */
export async function copyNoted(from: StorageEngine, to: StorageEngine, tenantId?: string): Promise<void> {
  await copySent(from, to, tenantId)
  await copyConsumers(from, to, tenantId)
}
