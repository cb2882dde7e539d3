/** `/v1/admin/tenants/{tenantId}/erasures`: the operations of `/v1/erasures`, for a tenant in the path (PROTOCOL §12). */
import { parseUuid } from '@property-events/protocol'
import { refused } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { capital, keyedProblems } from '../../http/openapi/responses.ts'
import { erase } from './erase-route.ts'
import { getErasure, listErasures } from './routes.ts'
import type { Operation, OperationSchema } from '../../http/operation.ts'
import { paramsOf } from '../../http/admin-operation.ts'
import { noTenant, notTenantId, readableTenant } from '../../tenants/routes/tenant-operation.ts'
import { reaches } from '../../keys/access/reach.ts'
import type { EraseContext } from './erase-route.ts'
import type { ErasuresContext } from './routes.ts'
import type { TenantContext } from '../../tenants/routes/tenant-operation.ts'

type Context = EraseContext & ErasuresContext & TenantContext

export function tenantErasures(context: Context): readonly Operation[] {
  return [erase(context), listErasures(context), getErasure(context)].map((one) => ofTenant(context, one))
}

function ofTenant(context: Context, operation: Operation): Operation {
  return {
    ...operation,
    path: `/v1/admin/tenants/:tenantId${operation.path.replace('/v1', '')}`,
    access: { scope: 'admin:erase', refusal: 'own' },
    schema: () => schemaOf(operation.schema()),

    prepare({ query, params: [given = '', ...params] }) {
      const tenantId = parseUuid(given)
      if (tenantId === undefined) {
        return () => refused({ code: 'invalid_parameter', errors: [notTenantId] })
      }
      const call = operation.prepare({ query, params })
      return async (request, access) => {
        if (!reaches(access, 'admin:erase', tenantId)) return noTenant
        const tenant = await readableTenant(context, tenantId)
        if ('kind' in tenant) return tenant
        return call(request, within(access, tenantId))
      }
    },
  }
}

/** An operator erases in both feeds; a key of the tenant only in those that it could erase in anyway. */
function within(access: Access, tenantId: string): Access {
  const grants = access.adminScopes.includes('admin:erase')
    ? [{ tenantId, scopes: ['property:erase', 'contact:erase'] as const }]
    : access.grants.filter((grant) => grant.tenantId === tenantId)
  return { ...access, grants }
}

function schemaOf(schema: OperationSchema): OperationSchema {
  const names = Object.keys(schema.params?.properties ?? {})
  const { 404: missing } = keyedProblems(
    'missing_scope',
    'tenant_not_found',
    'erasure_not_found',
    'subject_not_found',
    'event_not_found',
  )
  return {
    ...schema,
    operationId: `admin${capital(schema.operationId)}`,
    summary: `Of a tenant: ${schema.summary.charAt(0).toLowerCase()}${schema.summary.slice(1)}`,
    tags: ['Administration'],
    params: paramsOf(['tenantId', ...names], schema.params?.properties),
    response: { ...schema.response, ...(missing && { 404: missing }) },
  }
}
