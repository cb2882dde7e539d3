/** A copy, and a move of a tenant, include which tenants are leaving. */
import type { Actor, Leaving, StorageEngine } from '@property-events/server'

/** `tenantId`: only this tenant. */
export async function copyLeaving(
  from: StorageEngine,
  to: StorageEngine,
  actor: Actor,
  tenantId?: string,
): Promise<void> {
  const of = (leaving: readonly Leaving[]) =>
    leaving.filter((one) => tenantId === undefined || one.tenantId === tenantId)
  const leaving = of(await from.leaving.list())
  const ids = new Set(leaving.map((one) => one.tenantId))
  for (const one of of(await to.leaving.list())) {
    if (!ids.has(one.tenantId)) await to.leaving.end(one.tenantId, actor)
  }
  for (const one of leaving) {
    await to.leaving.begin(one, actor)
    if (one.unpublishedMs !== undefined) await to.leaving.noteUnpublished(one, one.unpublishedMs, actor)
  }
}
