/**
 * Every status this service answers with (D6, D9): no other file knows one. A caller gets the code, a sentence and what is allowed; the cause
 * goes to the log.
 */
import type { ProblemError } from '@property-events/protocol'
import { problems } from '@property-events/protocol/problems'
import type { ProblemCode, ProblemKind } from '@property-events/protocol/problems'

export { problems }
export type { ProblemCode, ProblemKind }

/** Statuses of success. */
export const success = {
  ok: 200,
  created: 201,
  accepted: 202,
  noContent: 204,
  seeOther: 303,
  notModified: 304,
} as const

/** What the code that refuses a request says about it. Headers are for the answer: `allow`, `retry-after`, and so on. */
export interface Refusal {
  readonly code: ProblemCode
  readonly detail?: string | undefined
  readonly errors?: readonly ProblemError[]
  readonly headers?: Readonly<Record<string, string>>
  /** Nothing more is read from the connection. */
  readonly closes?: true
}
