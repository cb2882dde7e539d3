/** Requests without a route: `OPTIONS`, a method the path does not have, a path that is not there (D9). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { quoteInput } from './echo-text.ts'
import type { Operation } from './operation.ts'
import { success } from './problem.ts'
import { sendProblem } from './send.ts'
import { routedTarget } from './target.ts'

/** Which methods a path has. */
export interface RouteTable {
  /** For the `Allow` header; `undefined`: there is no such path. */
  allowOf(path: string): string | undefined
  /** Of the whole service, for `OPTIONS *`. */
  readonly allow: string
}

/** How `Allow` lists them, whatever order the route table has. */
const methodOrder = ['GET', 'HEAD', 'POST', 'OPTIONS']

export function routeTable(operations: readonly Operation[]): RouteTable {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of operations) {
    const known = methods.get(path) ?? new Set<string>()
    for (const name of method === 'GET' ? ['GET', 'HEAD'] : [method]) known.add(name)
    methods.set(path, known.add('OPTIONS'))
  }
  const entries = [...methods].map(([path, names]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/:[A-Za-z]+/g, '[^/]+')}$`),
    allow: methodOrder.filter((name) => names.has(name)).join(', '),
  }))
  return {
    allowOf: (path) => entries.find(({ pattern }) => pattern.test(path))?.allow,
    allow: methodOrder.join(', '),
  }
}

export function answerUnrouted(
  table: RouteTable,
  basePath: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  // request.url is the routed target: without origin and base path, the spec's paths in lower case.
  const [path = ''] = request.url.split('?', 1)
  const allow = request.originalUrl === '*' ? table.allow : table.allowOf(path)
  if (allow === undefined) {
    const shorter = path.replace(/\/+$/, '')
    const isThere = shorter !== path && table.allowOf(routedTarget(shorter, '')) !== undefined
    const detail = isThere
      ? 'There is nothing at this path; without the slash at its end there is.'
      : `There is nothing at this path. The operations are listed under ${basePath}/docs and ${basePath}/openapi.json.`
    return sendProblem(request, reply, basePath, { code: 'path_not_found', detail })
  }
  if (request.method === 'OPTIONS') {
    return reply.code(success.noContent).headers({ allow, 'cache-control': 'no-store' }).send()
  }
  const detail = `${quoteInput(request.method)} is not a method of this path; it has ${allow}.`
  return sendProblem(request, reply, basePath, { code: 'method_not_allowed', detail, headers: { allow } })
}
