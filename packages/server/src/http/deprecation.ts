/** Announces the end of an operation with each of its answers (D27). */
import { noHeaders } from './exchange.ts'
import type { Headers } from './exchange.ts'
import type { Operation } from './operation.ts'

export interface Deprecation {
  /** When clients should stop using it, in milliseconds since 1970. */
  readonly sinceMs: number
  /** When it will be removed. */
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
