/** An operation of the service as a value: what is asked, and what is answered. */
import type { Query } from '../base.ts'

/**
 * `call` sends one. `id` is its `operationId` in openapi.json, which a test compares. `T` is the answer of a 2xx; `undefined` for an
 * answer without a body.
 */
export interface Operation<T> {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** As in openapi.json, its parts filled in: `/v1/admin/tenants/0b9d…/feeds`. */
  readonly path: string
  readonly query?: Query
  /** For operations of feeds, which a key of several tenants has to name: sent as `x-tenant`. */
  readonly tenant?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** JSON that is sent as it is written, in place of `body`: digits stay that a number would lose. */
  readonly text?: string
  /** It asks for no key, and is not at the door of the console. */
  readonly isOpen?: true
  /** For the types alone: never there. */
  readonly answers?: T
}

/** The parts of a path, in the order in which its template names them: `pathOf('/v1/keys/{keyId}', id)`. */
export function pathOf(template: string, ...parts: readonly string[]): string {
  let next = 0
  return template.replaceAll(/\{\w+\}/g, () => encodeURIComponent(parts[next++] ?? ''))
}
