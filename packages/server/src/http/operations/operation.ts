import type { AccessNeed } from '../access.ts'
import type { Deprecation } from '../deprecation.ts'
import type { Access, Outcome, Request } from '../exchange.ts'
import type { OperationSchema } from '../openapi/operation-schema.ts'

export type { OperationSchema }

/** One operation of the service: one file in this folder, one row in `index.ts`. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** After the base path, with parameters as `:eventId`. */
  readonly path: string
  /** The media type it answers with; a client that refuses it gets a 406. */
  readonly mediaType: string
  /** What a key must grant; `undefined`: no key is asked for. */
  readonly access: AccessNeed | undefined
  /** `node`: its answer is a stream or takes long, and Node's HTTP reads the request. */
  readonly transport?: 'node'
  /** The same of requests with such a query; they wait for events, and what they read meanwhile is noted as it is read. */
  readonly waits?: (query: string) => boolean
  /** Set when its end has been announced. */
  readonly deprecation?: Deprecation | undefined
  /** Made when a document is asked for; the service reads parameters and bodies itself. */
  readonly schema: () => OperationSchema
  /** Reads what a target asks for. A connection keeps the call for its next request with the same target. */
  readonly prepare: (target: OperationTarget) => Call
}

export interface OperationTarget {
  /** What stands after the `?`, as it was sent. */
  readonly query: string
  /** Parameters of the path, decoded, in the order in which they stand there. */
  readonly params: readonly string[]
}

/** Answers one request, which has everything the operation asks of it but usable parameters and a usable body. */
export type Call = (request: Request, access: Access) => Outcome | Promise<Outcome>

/** Under `/v1`, what is about the feeds of tenants may name the tenant in its query; `/v1/admin` has it in its paths. */
export function takesTenant({ path, access }: Pick<Operation, 'path' | 'access'>): boolean {
  return access !== undefined && path.startsWith('/v1/') && !path.startsWith('/v1/admin/')
}
