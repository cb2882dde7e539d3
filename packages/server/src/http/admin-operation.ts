/** What all administration routes share: strict parameters, a tenant in the path, and answers that nobody caches (D11, D19). */
import type { ProblemError } from '@property-events/protocol'
import { refused } from './exchange.ts'
import type { Access, AdminNeed } from './access.ts'
import type { Outcome, Refused, Request } from './exchange.ts'
import { keyedSchema } from './keyed-operation.ts'
import type { RouteWords } from './keyed-operation.ts'
import { exampleIds } from '@property-events/protocol/example-ids'
import type { ParameterSchema, PathSchema, PathSchemas } from './openapi/operation-schema.ts'
import { keyIdSchema, uuidSchema } from './openapi/parameters.ts'
import { keyedHeaders, madeHeaders } from './openapi/responses.ts'
import { success } from './problem/problem.ts'
import { readParameters } from './requests/query.ts'
import type { Operation, OperationSchema } from './operation.ts'
import type { ServiceLimits } from './limits.ts'

/** What every administration operation needs. */
export interface AdminContext {
  readonly limits: ServiceLimits
}

/** A request that has passed all checks of its route. */
export interface AdminRequest<Parameters> {
  readonly request: Request
  readonly access: Access
  readonly parameters: Parameters
  /** The parameters of the path, in their order. */
  readonly params: readonly string[]
}

export interface AdminRoute<Parameters> extends RouteWords {
  readonly method: Operation['method']
  /** After `/v1/admin`. */
  readonly path: string
  readonly need: AdminNeed
  /** No key of a tenant may use it, even for its own tenant. */
  readonly operatorsOnly?: true
  /** Why a path leads nowhere. Decided before anything else is read. */
  readonly refusalOfPath?: (params: readonly string[]) => Refused | undefined
  /** The parameters of its path that only this feature has, as the document describes them. */
  readonly params?: PathSchemas['properties']
  /** Query parameters as the document describes them; there are no others. */
  readonly query?: Readonly<Record<string, ParameterSchema>>
  /** Those without which it refuses. */
  readonly required?: readonly string[]
  /** Reads the parameters, and notes faults. */
  readonly read: (values: ReadonlyMap<string, string>, errors: ProblemError[]) => Parameters
  readonly answer: (asked: AdminRequest<Parameters>) => Outcome | Promise<Outcome>
}

/** For a route without query parameters. */
export const noParameters = { read: () => undefined } as const

export function adminOperation<Parameters>(context: AdminContext, route: AdminRoute<Parameters>): Operation {
  const { method, need } = route
  return {
    method,
    path: `/v1/admin${route.path}`,
    mediaType: 'application/json',
    access: { scope: need, refusal: 'own' },
    schema: () => schemaOf(route),

    prepare({ query, params }) {
      const unknown = route.refusalOfPath?.(params)
      if (unknown !== undefined) return () => unknown
      const reading = readParameters(query, Object.keys(route.query ?? {}), context.limits, route.read)
      if (reading.kind === 'refused') return () => reading
      const { parameters } = reading
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

function schemaOf(route: Described): OperationSchema {
  const { query, required = [], need, method, ok } = route
  const names = Array.from(route.path.matchAll(/:([A-Za-z]+)/g), ([, name = '']) => name)
  const writes = method === 'GET' ? [] : (['storage_full'] as const)
  const scoped = need === 'anyKey' ? [] : (['missing_scope'] as const)
  return keyedSchema(route, {
    tag: 'Administration',
    query: query && { type: 'object', properties: query, required },
    params: names.length === 0 ? undefined : paramsOf(names, route.params),
    problems: [...scoped, ...writes],
    headers: headersOf(ok.status),
  })
}

/** What has been made says where it is. */
function headersOf(status: number = success.ok) {
  return status === success.created || status === success.accepted ? madeHeaders : keyedHeaders
}

type Described = RouteWords &
  Pick<AdminRoute<unknown>, 'params' | 'query' | 'required' | 'need' | 'method' | 'path'>

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
