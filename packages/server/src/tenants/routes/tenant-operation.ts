/** What the operations on one tenant share: an id in the path, of a tenant that exists and that the key may see (D11). */
import { parseUuid } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { AdminNeed } from '../../http/access.ts'
import { adminOperation } from '../../http/admin-operation.ts'
import type { AdminRequest, AdminRoute, AdminContext } from '../../http/admin-operation.ts'
import { refused, invalidParameters } from '../../http/exchange.ts'
import type { Outcome, Refused } from '../../http/exchange.ts'
import type { Operation } from '../../http/operation.ts'
import { reaches } from '../../keys/access/reach.ts'
import type { Tenant, TenantStore } from '../tenant.ts'

/** What an operation on a tenant needs. */
export interface TenantContext extends AdminContext {
  readonly tenants: TenantStore
}

/** The same for a route with `:tenantId`: the tenant exists and the key may see it. */
interface TenantRequest<Parameters> extends AdminRequest<Parameters> {
  readonly tenant: Tenant
}

interface TenantRoute<Parameters> extends Omit<AdminRoute<Parameters>, 'answer' | 'need'> {
  readonly need: Exclude<AdminNeed, 'anyKey'>
  /** The route is about the tenant itself, and not about what it owns. */
  readonly whileDeleting?: true
  readonly answer: (asked: TenantRequest<Parameters>) => Outcome | Promise<Outcome>
}

/** A route whose path begins with `/tenants/:tenantId`. To the key, another tenant is as unknown as a missing one. */
export function tenantOperation<Parameters>(
  context: TenantContext,
  route: TenantRoute<Parameters>,
): Operation {
  const { need } = route
  return adminOperation(context, {
    ...route,
    refusalOfPath: ([given = '']) =>
      parseUuid(given) === undefined ? invalidParameters(notTenantId) : undefined,
    problems: ['tenant_not_found', ...(route.problems ?? [])],
    async answer(asked) {
      const [given = ''] = asked.params
      const tenantId = parseUuid(given)
      if (tenantId === undefined || !reaches(asked.access, need, tenantId)) return noTenant
      const tenant = await readableTenant(context, tenantId, route.whileDeleting)
      return 'kind' in tenant ? tenant : route.answer({ ...asked, tenant })
    },
  })
}

/** The fault of a path with something else in place of a tenant's id. */
export const notTenantId: ProblemError = {
  parameter: 'tenantId',
  code: 'not_a_uuid',
  message: 'The id of a tenant must be a UUID: 8-4-4-4-12 hexadecimal digits.',
}

export const noTenant = refused({ code: 'tenant_not_found' })
const beingDeleted = refused({ code: 'tenant_not_found', detail: 'This tenant is being deleted.' })

/** The tenant, unless it does not exist, or nothing of it may be read any more. */
export async function readableTenant(
  { tenants }: Pick<TenantContext, 'tenants'>,
  tenantId: string,
  whileDeleting?: true,
): Promise<Tenant | Refused> {
  const tenant = await tenants.findTenant(tenantId)
  if (tenant === undefined) return noTenant
  const { deleting, ...found } = tenant
  return deleting === true && whileDeleting === undefined ? beingDeleted : found
}
