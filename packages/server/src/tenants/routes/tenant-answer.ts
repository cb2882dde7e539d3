/** A tenant in an answer, with what is under way for it (PROTOCOL §12.2). */
import type { Tenant as TenantAnswer } from '@property-events/protocol/wire'
import type { Leaving, LeavingStore } from '../leaving/leaving.ts'
import type { OpenDeletion, DeletionStore } from '../deletion/deletion.ts'
import type { Tenant } from '../tenant.ts'
import { timeOf } from '../../http/time-of.ts'

/** What is shown of a tenant besides its row. */
export interface TenantViewContext {
  readonly deletions: DeletionStore
  readonly leaving: LeavingStore
}

interface TenantState {
  readonly leaving?: Leaving | undefined
  readonly deletion?: OpenDeletion | undefined
}

/** The members of these tenants, with what is under way for each. */
export async function tenantView(
  { leaving, deletions }: Pick<TenantViewContext, 'leaving' | 'deletions'>,
  tenants: readonly Tenant[],
): Promise<(tenant: Tenant) => TenantAnswer> {
  const ids = tenants.map(({ tenantId }) => tenantId)
  const [allLeaving, allDeletions] = await Promise.all([leaving.of(ids), deletions.open()])
  const leavingOf = new Map(allLeaving.map((one) => [one.tenantId, one]))
  const deletionOf = new Map(allDeletions.map((one) => [one.tenantId, one]))
  return (tenant) => {
    const { tenantId } = tenant
    return tenantMembers(tenant, { leaving: leavingOf.get(tenantId), deletion: deletionOf.get(tenantId) })
  }
}

/** The members of a tenant, and what is under way for it: nothing, if it is new. */
export function tenantMembers(
  { tenantId, name, reference, suspended, withoutDuties, createdMs }: Tenant,
  { leaving, deletion }: TenantState = {},
): TenantAnswer {
  return {
    tenantId,
    name,
    reference: reference ?? null,
    suspended,
    duties: withoutDuties !== true,
    leaving:
      leaving === undefined
        ? null
        : {
            since: timeOf(leaving.sinceMs),
            readingEndsAt: timeOf(leaving.readingEndsMs),
            unpublishedAt: timeOf(leaving.unpublishedMs),
          },
    deletion:
      deletion === undefined || deletion.state === 'deleted'
        ? null
        : { id: deletion.deletionId, state: deletion.state },
    createdAt: timeOf(createdMs),
  }
}
