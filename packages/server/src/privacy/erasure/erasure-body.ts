/** The body of a request to erase (PROTOCOL §5.7). It is strict: what is erased by mistake cannot be brought back. */
import { erasureReasons, feedNames } from '@property-events/protocol'
import type { ErasureReason, FeedName, ProblemError } from '@property-events/protocol'
import type { ErasureTarget } from './erasure.ts'
import { isDay, readCaseRef, readMembers } from '../../http/requests/body-members.ts'
import type { BodyMembers } from '../../http/requests/body-members.ts'

export interface ErasureBody {
  readonly feed: FeedName
  readonly target: ErasureTarget
  readonly reason: ErasureReason
  readonly caseRef: string | undefined
  readonly receivedOn: string | undefined
}

type ErasureBodyReading =
  | { readonly kind: 'body'; readonly body: ErasureBody }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

const names = ['feed', 'subjectId', 'eventId', 'reason', 'caseRef', 'receivedOn'] as const

/** `text`: valid UTF-8, decoded. Faults repeat no value of the body, because it may be about a person. */
export function readErasureBody(text: string): ErasureBodyReading {
  const reading = readMembers(text, names, '{"feed":"contact","subjectId":"…","reason":"…"}')
  if (reading.kind === 'faults') return reading
  const { members } = reading
  const feed = members.oneOf('feed', feedNames)
  const reason = members.oneOf('reason', erasureReasons)
  const target = readTarget(members)
  const caseRef = readCaseRef(members)
  const receivedOn = members.matching('receivedOn', isDay, 'a day such as 2026-01-31')
  const { errors } = members
  if (errors.length > 0 || feed === undefined || reason === undefined || target === undefined)
    return { kind: 'faults', errors }
  return { kind: 'body', body: { feed, target, reason, caseRef, receivedOn } }
}

function readTarget(members: BodyMembers<(typeof names)[number]>): ErasureTarget | undefined {
  const isSubject = members.given.has('subjectId')
  if (isSubject === members.given.has('eventId'))
    return members.fault(
      'subjectId',
      'Send exactly one of subjectId (a property or contact) and eventId (one event).',
    )
  const id = members.uuid(isSubject ? 'subjectId' : 'eventId')
  if (id === undefined) return undefined
  return isSubject ? { kind: 'subject', subjectId: id } : { kind: 'event', eventId: id }
}
