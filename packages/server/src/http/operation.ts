import type { AccessNeed, Access } from './access.ts'
import type { Outcome, Request } from './exchange.ts'
import type { OperationSchema } from './openapi/operation-schema.ts'

export type { OperationSchema }

/** One operation of the service: one file in this folder, one row in `index.ts`. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** After the base path, with parameters as `:eventId`. */
  readonly path: string
  /** The media type it answers with; a client that refuses it gets a 406, except from the contract's operations. */
  readonly mediaType: string
  /** What a key must grant; `undefined` if no key is needed. */
  readonly access: AccessNeed | undefined
  /** `node`: the answer is a stream or takes long, so Node's HTTP reads the request. */
  readonly transport?: 'node'
  /** Whether requests with such a query wait for events; what they read meanwhile is noted as it is read. */
  readonly waits?: (query: string) => boolean
  /** Set when its end has been announced. */
  readonly deprecation?: Deprecation | undefined
  /** Made when a document is requested; the service reads parameters and bodies itself. */
  readonly schema: () => OperationSchema
  /** Reads what a target asks for. A connection keeps the call for its next request with the same target. */
  readonly prepare: (target: OperationTarget) => Call
}

/** When the end of an operation is (D27). */
export interface Deprecation {
  /** When clients should stop using it, in milliseconds since 1970. */
  readonly sinceMs: number
  /** When it will be removed. */
  readonly sunsetMs: number
}

export interface OperationTarget {
  /** The text after the `?`, as it was sent. */
  readonly query: string
  /** Parameters of the path, decoded, in their order in the path. */
  readonly params: readonly string[]
}

/** Answers one request. Access has been granted already; parameters and body have not been checked. */
export type Call = (request: Request, access: Access) => Outcome | Promise<Outcome>

/** Under `/v1`, an operation on feeds may take the tenant from the query; `/v1/admin` has it in its paths. */
export function takesTenant({ path, access }: Pick<Operation, 'path' | 'access'>): boolean {
  return access !== undefined && path.startsWith('/v1/') && !path.startsWith('/v1/admin/')
}
