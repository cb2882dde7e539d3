/** Who has seen a property (PROTOCOL §14.6). */
import type { PropertyConsumers } from '@property-events/protocol/wire'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

/** What became of its latest event at each consumer, for those who look after the tenant. */
export function getPropertyDelivery(tenantId: string, agentRef: string): Operation<PropertyConsumers> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/properties/{agentRef}/delivery', tenantId, agentRef)
  return { id: 'getPropertyDelivery', method: 'GET', path }
}

/** The same for a key of feeds: a key that publishes sees all consumers, one that reads sees itself. */
export function getPropertyConsumers(tenantId: string, agentRef: string): Operation<PropertyConsumers> {
  const path = pathOf('/v1/properties/{subjectId}/consumers', agentRef)
  return { id: 'getPropertyConsumers', method: 'GET', path, tenant: tenantId }
}
