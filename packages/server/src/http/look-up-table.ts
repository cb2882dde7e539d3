/** The table of paths with all their spellings and parameters, for paths that the plain spelling does not find (router.ts). */
import findMyWay from 'find-my-way'
import type { Operation, OperationTarget } from './operation.ts'
import type { Routed } from './routed.ts'

/** An operation, as the router finds it. */
export interface Route extends Pick<
  Routed,
  'operationId' | 'access' | 'mediaType' | 'transport' | 'headers'
> {
  readonly operation: Operation
  readonly path: string
  /** The names of its parameters, in their order. */
  readonly names: readonly string[]
  /** Whether its query may name the tenant (PROTOCOL §2.7): the spec's operations ignore it there (D19). */
  readonly takesTenant: boolean
}

export interface Found {
  readonly route: Route
  readonly params: OperationTarget['params']
}

export interface LookUp {
  find(method: string, path: string): Found | 'badEncoding' | undefined
  /** For the `Allow` header; `undefined`: there is no such path. `without`: a method that was looked up and not found. */
  allowOf(path: string, without?: string): string | undefined
  /** The methods of the whole service, for `OPTIONS *`. */
  readonly allow: string
}

/** A path with one of these methods also has the other. */
const readMethods: readonly string[] = ['GET', 'HEAD']
const isRead = (method: string): boolean => readMethods.includes(method)
/** The order of methods in `Allow`, whatever the order of the table. */
const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const writeMethods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

export function lookUpTable(routes: readonly Route[], maxPathLength: number): LookUp {
  const table = findMyWay({
    // The path has its own limit as a whole.
    maxParamLength: maxPathLength,
    // We read the query ourselves, from the text: see requests/query.ts.
    querystringParser: () => ({}),
    onBadUrl: () => undefined,
  })
  const byHandler = new Map<unknown, Route>()
  /** The methods of any operation. */
  const methods = new Set<string>(routes.map(({ operation }) => operation.method))
  for (const route of routes) {
    const { method } = route.operation
    const handler = (): undefined => undefined
    byHandler.set(handler, route)
    table.on(method === 'GET' ? ['GET', 'HEAD'] : [method], route.path, handler)
  }
  const find = (method: string, path: string): Found | 'badEncoding' | undefined => {
    const known = methodOrder.find((name) => name === method)
    // The table reports a bad encoding only under methods that it has.
    const found = table.find(known ?? 'GET', path)
    if (found === null) return undefined
    const route = byHandler.get(found.handler)
    if (route === undefined) return 'badEncoding'
    return known === undefined
      ? undefined
      : { route, params: route.names.map((name) => found.params[name] ?? '') }
  }
  const listed = (methods: readonly string[]): string => [...methods, 'OPTIONS'].join(', ')
  return {
    find,
    allowOf(path, without) {
      // Each search decodes the path, which took 40 µs for 8,000 percent-encoded characters, so there are no more searches than
      // necessary.
      const reads = isRead(without ?? '') || find('GET', path) === undefined ? [] : readMethods
      const isThere = (method: string): boolean => methods.has(method) && find(method, path) !== undefined
      const writes = writeMethods.filter((method) => without !== method && isThere(method))
      const allowed = [...reads, ...writes]
      return allowed.length === 0 ? undefined : listed(allowed)
    },
    allow: listed(methodOrder.filter((method) => isRead(method) || methods.has(method))),
  }
}
