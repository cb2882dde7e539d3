/** What all administration routes share: strict parameters, a tenant in the path, and answers that nobody caches (D11, D19). */
import { isKeyId, parseUuid } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { SchemaName } from '@property-events/protocol/wire'
import type { Tenant } from '../../tenants/tenant.ts'
import type { AdminNeed } from '../access/access.ts'
import type { HttpContext } from '../context.ts'
import { refused } from '../exchange.ts'
import type { Access, Headers, Outcome, Refused, Request } from '../exchange.ts'
import { exampleIds } from '@property-events/protocol/example-ids'
import type { ParameterSchema, PathSchema, PathSchemas } from '../openapi/operation-schema.ts'
import { keyIdSchema, uuidSchema } from '../openapi/parameters.ts'
import { answer, keyedHeaders, keyedProblems, madeHeaders } from '../openapi/responses.ts'
import { refTo } from '../openapi/schemas.ts'
import { success } from '../problem/problem.ts'
import type { ProblemCode } from '../problem/problem.ts'
import { readQuery } from '../requests/query.ts'
import { nameParams } from '../../consumers/routes/consumer-path.ts'
import type { Operation, OperationSchema } from '../operation.ts'
import { reaches } from './reach.ts'

/** A request that has passed all checks of its route. */
export interface AdminRequest<Parameters> {
  readonly request: Request
  readonly access: Access
  readonly parameters: Parameters
  /** The parameters of the path, in their order. */
  readonly params: readonly string[]
}

/** The same for a route with `:tenantId`: the tenant exists and the key may see it. */
export interface TenantRequest<Parameters> extends AdminRequest<Parameters> {
  readonly tenant: Tenant
}

interface RouteWords {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly body?: SchemaName
  /** The body is a list of at most this many. */
  readonly listOf?: number
  readonly ok: { readonly status?: number; readonly description: string; readonly schema: SchemaName }
  /** Another successful answer. */
  readonly alsoOk?: { readonly status: number; readonly description: string; readonly schema: SchemaName }
  readonly problems?: readonly ProblemCode[]
}

export interface AdminRoute<Parameters> extends RouteWords {
  readonly method: Operation['method']
  /** After `/v1/admin`. */
  readonly path: string
  readonly need: AdminNeed
  /** No key of a tenant may use it, even for its own tenant. */
  readonly operatorsOnly?: true
  /** Query parameters as the document describes them; there are no others. */
  readonly query?: Readonly<Record<string, ParameterSchema>>
  /** Those without which it refuses. */
  readonly required?: readonly string[]
  /** Reads the parameters, and notes faults. */
  readonly read: (values: ReadonlyMap<string, string>, errors: ProblemError[]) => Parameters
  readonly answer: (asked: AdminRequest<Parameters>) => Outcome | Promise<Outcome>
}

export interface TenantRoute<Parameters> extends Omit<AdminRoute<Parameters>, 'answer' | 'need'> {
  readonly need: Exclude<AdminNeed, 'anyKey'>
  /** The route is about the tenant itself, and not about what it owns. */
  readonly whileDeleting?: true
  readonly answer: (asked: TenantRequest<Parameters>) => Outcome | Promise<Outcome>
}

/** For a route without query parameters. */
export const noParameters = { read: () => undefined } as const

export const adminHeaders: Headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }

export function adminAnswer(body: object, status: number = success.ok, further: Headers = {}): Outcome {
  return { kind: 'text', status, headers: { ...adminHeaders, ...further }, body: JSON.stringify(body) }
}

export function adminOperation<Parameters>(context: HttpContext, route: AdminRoute<Parameters>): Operation {
  const { method, need } = route
  return {
    method,
    path: `/v1/admin${route.path}`,
    mediaType: 'application/json',
    access: { scope: need, refusal: 'own' },
    schema: () => schemaOf(route),

    prepare({ query, params }) {
      if (route.path.startsWith('/keys/:keyId') && !isKeyId(params[0] ?? '')) return () => noKey
      const names = Object.keys(route.query ?? {})
      const reading = readQuery(query, { names, style: 'own', maxParameters: context.limits.maxParameters })
      const errors = [...reading.errors]
      const parameters = route.read(reading.values, errors)
      if (errors.length > 0) return () => refused({ code: 'invalid_parameter', errors })
      return (request, access) => {
        if (route.operatorsOnly === true && access.adminScopes.every((scope) => scope !== need)) {
          const detail = `Only an operator key with the scope ${need} may do this.`
          return refused({ code: 'missing_scope', detail })
        }
        return route.answer({ request, access, parameters, params })
      }
    },
  }
}

/** A route whose path begins with `/tenants/:tenantId`. To the key, another tenant is as unknown as a missing one. */
export function tenantOperation<Parameters>(context: HttpContext, route: TenantRoute<Parameters>): Operation {
  const { need } = route
  const operation = adminOperation(context, {
    ...route,
    problems: ['tenant_not_found', ...(route.problems ?? [])],
    async answer(asked) {
      const [given = ''] = asked.params
      const tenantId = parseUuid(given)
      if (tenantId === undefined || !reaches(asked.access, need, tenantId)) return noTenant
      const tenant = await readableTenant(context, tenantId, route.whileDeleting)
      return 'kind' in tenant ? tenant : route.answer({ ...asked, tenant })
    },
  })
  return {
    ...operation,
    prepare(target) {
      const [given = ''] = target.params
      if (parseUuid(given) !== undefined) return operation.prepare(target)
      return () => refused({ code: 'invalid_parameter', errors: [notTenantId] })
    },
  }
}

/** The fault of a path with something else in place of a tenant's id. */
export const notTenantId: ProblemError = {
  parameter: 'tenantId',
  code: 'not_a_uuid',
  message: 'The id of a tenant is a UUID: 8-4-4-4-12 hexadecimal digits.',
}

export const noKey = refused({ code: 'key_not_found' })
export const noTenant = refused({ code: 'tenant_not_found' })
const beingDeleted = refused({ code: 'tenant_not_found', detail: 'This tenant is being deleted.' })

/** The tenant, unless it does not exist, or nothing of it may be read any more. */
export async function readableTenant(
  { tenants }: Pick<HttpContext, 'tenants'>,
  tenantId: string,
  whileDeleting?: true,
): Promise<Tenant | Refused> {
  const tenant = await tenants.findTenant(tenantId)
  if (tenant === undefined) return noTenant
  const { deleting, ...found } = tenant
  return deleting === true && whileDeleting === undefined ? beingDeleted : found
}

const bodyProblems = [
  'invalid_body',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_charset',
  'unsupported_content_encoding',
] as const satisfies readonly ProblemCode[]

function schemaOf(route: Described): OperationSchema {
  const { operationId, summary, description, ok, alsoOk, body, query, required = [], need, method } = route
  const list = { type: 'array', minItems: 1, maxItems: route.listOf } as const
  const one = body && refTo(body)
  const content = one && {
    'application/json': { schema: route.listOf === undefined ? one : { ...list, items: one } },
  }
  const names = Array.from(route.path.matchAll(/:([A-Za-z]+)/g), ([, name = '']) => name)
  const writes = method === 'GET' ? [] : (['storage_full'] as const)
  const scoped = need === 'anyKey' ? [] : (['missing_scope'] as const)
  return {
    operationId,
    summary,
    description,
    tags: ['Administration'],
    security: [{ apiKey: [] }],
    ...(query === undefined ? {} : { querystring: { type: 'object', properties: query, required } as const }),
    ...(names.length === 0 ? {} : { params: paramsOf(names) }),
    ...(content === undefined ? {} : { body: { content } }),
    response: {
      [ok.status ?? success.ok]: answer(ok.description, refTo(ok.schema), headersOf(ok.status)),
      ...(alsoOk && { [alsoOk.status]: answer(alsoOk.description, refTo(alsoOk.schema), keyedHeaders) }),
      ...keyedProblems(
        ...scoped,
        ...(content === undefined ? [] : bodyProblems),
        ...writes,
        ...(route.problems ?? []),
      ),
    },
  }
}

/** What has been made says where it is. */
function headersOf(status: number = success.ok) {
  return status === success.created || status === success.accepted ? madeHeaders : keyedHeaders
}

type Described = RouteWords & Pick<AdminRoute<unknown>, 'query' | 'required' | 'need' | 'method' | 'path'>

const pathParameters: Readonly<Record<string, PathSchema>> = {
  tenantId: uuidSchema('Id of the tenant.', exampleIds.tenantId),
  keyId: keyIdSchema('Id of the key: the part after `pev_` in its text.'),
  actor: {
    type: 'string',
    pattern: '^(?:key|cli):[A-Za-z0-9._-]{1,100}$',
    description: 'Of rows of the audit: `key:` or `cli:` and an opaque id.',
    examples: [exampleIds.actor],
  },
  feed: {
    type: 'string',
    enum: ['property', 'contact'],
    description: 'Which feed of the tenant.',
    examples: ['property'],
  },
  agentRef: uuidSchema('The `agent_ref` of the property.', exampleIds.agentRef),
  name: nameParams.properties.name,
  contactRef: uuidSchema('The `contact_ref` of the contact.', exampleIds.contactRef),
}

/** Also for the operations that are offered under a tenant. */
export function paramsOf(names: readonly string[], known: PathSchemas['properties'] = {}) {
  const described = names.flatMap((name) => {
    const parameter = known[name] ?? pathParameters[name]
    return parameter === undefined ? [] : [[name, parameter] as const]
  })
  return { type: 'object', properties: Object.fromEntries(described) } as const
}
