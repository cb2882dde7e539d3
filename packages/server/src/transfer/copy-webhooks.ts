/** The webhooks that a copy of a store, or of one tenant, takes along: paused, and without secrets, because their receivers are real. */
import type { Actor } from '../audit/actor.ts'
import type { StorageEngine } from '../store/storage.ts'
import { endpointsPerTenant } from '../webhooks/endpoint.ts'
import type { EndpointRecord, GivenUpEvent } from '../webhooks/endpoint.ts'

const rowsAtOnce = 5_000

/**
 * Call it after the keys have been copied: endpoints of keys that the target does not have are left out. It can be repeated, until
 * somebody enables an endpoint in the target. `tenantId`: only of this tenant.
 */
export async function copyWebhooks(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
  tenantId?: string,
): Promise<void> {
  const tenants =
    tenantId === undefined ? (await from.tenants.tenants()).map((one) => one.tenantId) : [tenantId]
  const known = new Set((await to.keys.keys()).map(({ keyId }) => keyId))
  for (const tenant of tenants) {
    const wanted = await endpointsOf(from, tenant)
    const ids = new Set(wanted.map(({ endpointId }) => endpointId))
    for (const { endpointId, state } of await endpointsOf(to, tenant)) {
      const isCopied = state.kind === 'paused' && state.reason === 'copied'
      if (isCopied && !ids.has(endpointId)) await to.webhooks.remove(endpointId, actor)
    }
    for (const endpoint of wanted) {
      if (known.has(endpoint.keyId)) await copyOne(from, to, endpoint, actor)
    }
  }
}

function endpointsOf({ webhooks }: StorageEngine, tenantId: string): Promise<readonly EndpointRecord[]> {
  return webhooks.list({ tenantId, after: undefined, limit: endpointsPerTenant })
}

async function copyOne(
  from: StorageEngine,
  to: StorageEngine,
  endpoint: EndpointRecord,
  actor: Actor,
): Promise<void> {
  const { endpointId } = endpoint
  const givenUp: GivenUpEvent[] = []
  for (let after = 0; ; after = givenUp.at(-1)?.sequenceNumber ?? after) {
    const some = await from.webhooks.givenUp(endpointId, after, rowsAtOnce)
    givenUp.push(...some)
    if (some.length < rowsAtOnce) break
  }
  const waiting = await from.webhooks.waiting(endpointId, rowsAtOnce)
  await to.webhooks.take({ endpoint: { ...endpoint, secrets: [] }, waiting, givenUp }, actor)
}
