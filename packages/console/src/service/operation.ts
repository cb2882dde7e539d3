/** An operation of the service as a value: its request and its answer. */
import type { Query } from '../base.ts'

/** `call` sends one. A test compares it with openapi.json. `T` is the answer of a 2xx, or `undefined` for an answer without a body. */
export interface Operation<T> {
  /** `GET` if it is left out. */
  readonly method?: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** As in openapi.json, with its parts filled in: `/v1/admin/tenants/0b9d…/feeds`. */
  readonly path: string
  readonly query?: Query
  /** For operations of feeds, where a key of several tenants has to name one. Sent as `x-tenant`. */
  readonly tenant?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** JSON that is sent exactly as written instead of `body`, so that numbers keep all of their digits. */
  readonly text?: string
  /** Only for the types: never present. */
  readonly answers?: T
}

/** The parts of a path, in the order in which its template names them: `pathOf('/v1/keys/{keyId}', id)`. */
export function pathOf(template: string, ...parts: readonly string[]): string {
  let next = 0
  return template.replaceAll(/\{\w+\}/g, () => encodeURIComponent(parts[next++] ?? ''))
}
