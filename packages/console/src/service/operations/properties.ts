/** Who has seen a property (PROTOCOL §14.6). */
import type { DeliveryAnswer } from '../../views/property/answer.ts'
import { pathOf } from '../operation.ts'
import type { Operation } from '../operation.ts'

/** What became of its latest event at each consumer, as those ask who look after the tenant. */
export function getPropertyDelivery(tenantId: string, agentRef: string): Operation<DeliveryAnswer> {
  const path = pathOf('/v1/admin/tenants/{tenantId}/properties/{agentRef}/delivery', tenantId, agentRef)
  return { id: 'getPropertyDelivery', method: 'GET', path }
}

/** The same for a key of feeds: all consumers for one that publishes, itself for one that reads. */
export function getPropertyConsumers(tenantId: string, agentRef: string): Operation<DeliveryAnswer> {
  const path = pathOf('/v1/properties/{subjectId}/consumers', agentRef)
  return { id: 'getPropertyConsumers', method: 'GET', path, tenant: tenantId }
}
