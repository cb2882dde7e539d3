/** How the end of an operation is announced, at every answer of it (D27). */
import { noHeaders } from './exchange.ts'
import type { Headers } from './exchange.ts'
import type { Operation } from './operations/operation.ts'

export interface Deprecation {
  /** From when on it should not be used any more, in milliseconds since 1970. */
  readonly sinceMs: number
  /** When it will be gone. */
  readonly sunsetMs: number
}

/** `Deprecation` (RFC 9745: a date of structured fields) and `Sunset` (RFC 8594: an HTTP date), or nothing. */
export function deprecationHeaders({ deprecation }: Pick<Operation, 'deprecation'>): Headers {
  if (deprecation === undefined) return noHeaders
  return {
    deprecation: `@${Math.floor(deprecation.sinceMs / 1_000)}`,
    sunset: new Date(deprecation.sunsetMs).toUTCString(),
  }
}
