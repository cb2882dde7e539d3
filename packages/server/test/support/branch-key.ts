/** Keys that are limited to branches (D11). */
import type { Grant } from '../../src/index.ts'
import { call } from './http-client.ts'
import type { TestService } from './test-service.ts'
import { until } from './until.ts'

/** One that reads and publishes properties of these branches of the test's own tenant, once it can be read with. */
export async function branchKey(
  service: TestService,
  branches: readonly string[],
  label = 'test',
): Promise<string> {
  const { tenantId } = service.tenant
  const grant: Grant = {
    tenantId,
    scopes: ['property:read', 'property:publish'],
    branches: branches.toSorted(),
  }
  const { text: key } = await service.issue({ grants: [grant], label })
  const isReady = async () => (await call(service, '/v1/property-events?limit=1', { key })).status === 200
  await until(isReady, { what: `the view of ${branches.join()}` })
  return key
}
