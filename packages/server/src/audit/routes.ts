/** `GET /v1/admin/audit`: who changed what, and when (PROTOCOL §12). */
import type { ProblemError } from '@property-events/protocol'
import type { AuditRow as AuditRowAnswer } from '@property-events/protocol/wire'
import type { AuditRow, AuditStore } from './audit.ts'
import { uncachedAnswer, invalidParameters } from '../http/exchange.ts'
import { quoteInput } from '../http/requests/echo-text.ts'
import { readTimeMs, timeSchema } from '../http/requests/time-parameter.ts'
import { keyIdSchema } from '../http/openapi/parameters.ts'
import type { Operation } from '../http/operation.ts'
import { adminOperation } from '../http/admin-operation.ts'
import { idCursor, listBy } from '../http/listed.ts'
import { readKeyId } from '../keys/routes/key-path.ts'
import { askedTenant, readTenantId } from '../keys/routes/keys.ts'
import type { NameStore } from './names/names.ts'
import type { AdminContext } from '../http/admin-operation.ts'

interface Context extends AdminContext {
  readonly audit: AuditStore
  readonly names: NameStore
}

const auditRows = listBy(idCursor)
const actionPattern = /^[\w.-]{1,100}$/

export function readAudit(context: Context): Operation {
  return adminOperation(context, {
    method: 'GET',
    path: '/audit',
    need: 'admin:audit',
    operationId: 'readAudit',
    summary: 'List the audit: who changed what',
    description:
      'The newest first. Actors are opaque: a key by its id, somebody at the command line by an id that reveals no name, or the service. Repeat with `after` = `next` until `next` is null.',
    query: {
      ...auditRows.query,
      tenant: { type: 'string', format: 'uuid', description: 'Only rows of this tenant.' },
      key: keyIdSchema('Only what was done to the key with this id.'),
      action: {
        type: 'string',
        pattern: actionPattern.source,
        description: 'Only rows of this action, such as `key.created`.',
        examples: ['key.created'],
      },
      from: timeSchema('Only rows of this time or later, in the forms of `from` of a list.'),
      to: timeSchema('Only rows of this time or earlier, in the forms of `to` of a list.'),
    },
    ok: { description: 'Rows of the audit.', schema: 'AuditRows' },
    problems: ['tenant_not_found'],
    read: (values, errors) => ({
      ...auditRows.read(values, errors),
      tenantId: readTenantId(values, errors),
      target: readKeyId(values, errors),
      action: readAction(values, errors),
      fromMs: readTimeMs('from', values, errors),
      toMs: readTimeMs('to', values, errors),
    }),
    async answer({ access, parameters: { limit, tenantId, ...query } }) {
      const tenant = askedTenant(access, 'admin:audit', tenantId)
      if (typeof tenant === 'object') return tenant
      const rows = await context.audit.read({ ...query, first: 'newest', tenant, limit: limit + 1 })
      if (rows === 'unknownRow') {
        const message = 'There is no such row, or it is gone: start again without after.'
        return invalidParameters({ parameter: 'after', code: 'not_a_place', message })
      }
      const { items, next } = auditRows.page(rows, limit, ({ id }) => id)
      // No tenant sees the names of the people who run the service.
      const isOperator = access.adminScopes.includes('admin:audit')
      const actors = isOperator ? [...new Set(items.map(({ actor }) => actor))] : []
      const names = await context.names.of(actors)
      return uncachedAnswer({ items: items.map((row) => rowMembers(row, names)), next })
    },
  })
}

function rowMembers(
  { id, atMs, actor, action, tenant, target, detail }: AuditRow,
  names: ReadonlyMap<string, string>,
): AuditRowAnswer {
  const at = new Date(atMs).toISOString()
  return { id, at, actor, actorName: names.get(actor) ?? null, action, tenantId: tenant, target, detail }
}

function readAction(values: ReadonlyMap<string, string>, errors: ProblemError[]): string | undefined {
  const text = values.get('action')
  if (text === undefined || actionPattern.test(text)) return text
  const message = `${quoteInput(text)} is not allowed; action has letters, digits and . _ - only.`
  errors.push({ parameter: 'action', code: 'not_allowed', message })
  return undefined
}
