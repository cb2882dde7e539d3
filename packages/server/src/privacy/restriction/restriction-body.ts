/** The body of a request to restrict a contact (PROTOCOL §5.7). */
import { restrictionReasons } from '@property-events/protocol'
import type { ProblemError, RestrictionReason } from '@property-events/protocol'
import { readCaseRef, readMembers } from '../../http/requests/body-members.ts'

export interface RestrictionBody {
  readonly subjectId: string
  readonly reason: RestrictionReason
  readonly caseRef: string | undefined
}

type RestrictionBodyReading =
  | { readonly kind: 'body'; readonly body: RestrictionBody }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

const names = ['feed', 'subjectId', 'reason', 'caseRef'] as const

export function readRestrictionBody(text: string): RestrictionBodyReading {
  const reading = readMembers(text, names, '{"subjectId":"…","reason":"accuracy_contested"}')
  if (reading.kind === 'faults') return reading
  const { members } = reading
  // Only contacts can be restricted.
  if (members.given.has('feed')) members.oneOf('feed', ['contact'])
  const subjectId = members.uuid('subjectId')
  const reason = members.oneOf('reason', restrictionReasons)
  const caseRef = readCaseRef(members)
  const { errors } = members
  if (errors.length > 0 || subjectId === undefined || reason === undefined) return { kind: 'faults', errors }
  return { kind: 'body', body: { subjectId, reason, caseRef } }
}
