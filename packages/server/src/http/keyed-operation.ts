/** An operation that a key opens, described once: its scope, its body, its answers and its problems. */
import { feeds } from '@property-events/protocol'
import type { FeedName, Scope } from '@property-events/protocol'
import type { SchemaName } from '@property-events/protocol/wire'
import type { AccessNeed } from './access.ts'
import type { OperationSchema, ParameterSchemas, PathSchemas } from './openapi/operation-schema.ts'
import { answer, bodyProblems, feedProblems, keyedHeaders, keyedProblems } from './openapi/responses.ts'
import { refTo } from './openapi/schemas.ts'
import type { Operation } from './operation.ts'
import { success } from './problem/problem.ts'
import type { ProblemCode } from './problem/problem.ts'

/** What the document says of an operation. */
export interface RouteWords {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly body?: SchemaName
  /** The body is a list of at most this many. */
  readonly listOf?: number
  readonly ok: { readonly status?: number; readonly description: string; readonly schema: SchemaName }
  /** Another successful answer. */
  readonly alsoOk?: { readonly status: number; readonly description: string; readonly schema: SchemaName }
  /** Besides those of every key and, if it takes one, of every body. */
  readonly problems?: readonly ProblemCode[]
}

/** An operation for the keys of tenants. */
interface KeyedRoute extends RouteWords, Pick<Operation, 'method' | 'path' | 'waits' | 'prepare'> {
  readonly scope: AccessNeed['scope']
  readonly orScope?: Scope
  readonly tag: 'Copying' | 'Erasing' | 'Publishing' | 'Webhooks'
  readonly query?: ParameterSchemas
  readonly params?: PathSchemas
  /** Of the answer, if it has more than those of every key. */
  readonly headers?: Parameters<typeof answer>[2]
}

/** Reads one feed, for copies; `scope`: the feed's own if left out. */
export function feedOperation(
  feed: FeedName,
  route: Omit<KeyedRoute, 'scope' | 'tag'> & Partial<Pick<KeyedRoute, 'scope'>>,
): Operation {
  const problems = [...(route.problems ?? []), ...feedProblems(feed)]
  return keyedOperation({ scope: feeds[feed].readScope, ...route, tag: 'Copying', problems })
}

export function keyedOperation(route: KeyedRoute): Operation {
  const { method, path, scope, orScope, waits, tag, query, params, headers, prepare } = route
  const described = { tag, query, params, headers, problems: ['missing_scope', 'ambiguous_tenant'] } as const
  return {
    method,
    path,
    mediaType: 'application/json',
    access: { scope, ...(orScope !== undefined && { orScope }), refusal: 'own' },
    ...(waits && { waits }),
    schema: () => keyedSchema(route, described),
    prepare,
  }
}

interface Described {
  readonly tag: string
  readonly query: ParameterSchemas | undefined
  readonly params: PathSchemas | undefined
  /** Of its scope. */
  readonly problems: readonly ProblemCode[]
  /** Of the answer. */
  readonly headers?: KeyedRoute['headers']
}

export function keyedSchema(words: RouteWords, described: Described): OperationSchema {
  const { operationId, summary, description, body, listOf, ok, alsoOk, problems = [] } = words
  const { tag, query, params, headers = keyedHeaders } = described
  const one = body && refTo(body)
  const list = { type: 'array', minItems: 1, maxItems: listOf, items: one } as const
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    security: [{ apiKey: [] }],
    ...(query && { querystring: query }),
    ...(params && { params }),
    ...(one && { body: { content: { 'application/json': { schema: listOf === undefined ? one : list } } } }),
    response: {
      [ok.status ?? success.ok]: answer(ok.description, refTo(ok.schema), headers),
      ...(alsoOk && { [alsoOk.status]: answer(alsoOk.description, refTo(alsoOk.schema), keyedHeaders) }),
      ...keyedProblems(
        ...described.problems,
        ...(one === undefined ? [] : (['invalid_body', ...bodyProblems] as const)),
        ...problems,
      ),
    },
  }
}
