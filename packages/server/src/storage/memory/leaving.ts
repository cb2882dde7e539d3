import { leavingBegun, leavingEnded, tenantUnpublished } from '../audit-changes.ts'
import type { LeavingStore } from '../storage.ts'
import { noteChanges } from './audit.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryLeaving(store: MemoryStore): LeavingStore {
  return {
    async begin(request, actor) {
      const { leaving, tenants } = openState(store)
      const { tenantId, readingEndsMs } = request
      if (!tenants.has(tenantId)) return 'unknownTenant'
      const before = leaving.get(tenantId)
      if (before?.readingEndsMs === readingEndsMs) return 'done'
      leaving.set(tenantId, { ...request, unpublishedMs: undefined, ...before, readingEndsMs })
      noteChanges(store, leavingBegun(request), actor)
      return 'done'
    },
    async end(tenantId, actor) {
      const { leaving, tenants } = openState(store)
      if (!tenants.has(tenantId)) return 'unknownTenant'
      if (leaving.delete(tenantId)) noteChanges(store, leavingEnded(tenantId), actor)
      return 'done'
    },
    list: async () => [...openState(store).leaving.values()],
    of: async (tenantIds) => tenantIds.flatMap((tenantId) => openState(store).leaving.get(tenantId) ?? []),
    async noteUnpublished({ tenantId, sinceMs }, unpublishedMs, actor) {
      const { leaving } = openState(store)
      const before = leaving.get(tenantId)
      if (before?.sinceMs !== sinceMs || before.unpublishedMs !== undefined) return
      leaving.set(tenantId, { ...before, unpublishedMs })
      noteChanges(store, tenantUnpublished(tenantId), actor)
    },
  }
}
