/** The body of a request to erase (PROTOCOL §5.7). Strict: what is erased by mistake does not come back. */
import { erasureReasons, feedNames, nearestName, parseUuid, readJson } from '@property-events/protocol'
import type { ErasureReason, FeedName, ProblemError } from '@property-events/protocol'
import type { ErasureTarget } from '../../storage/storage.ts'
import { quoteInput } from './echo-text.ts'

export interface ErasureBody {
  readonly feed: FeedName
  readonly target: ErasureTarget
  readonly reason: ErasureReason
  readonly caseRef: string | undefined
  readonly receivedOn: string | undefined
}

export type ErasureBodyReading =
  | { readonly kind: 'body'; readonly body: ErasureBody }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** A request has some 200 bytes. */
export const maxErasureBytes = 4_096

const members = ['feed', 'subjectId', 'eventId', 'reason', 'caseRef', 'receivedOn'] as const

type Member = (typeof members)[number]

/** `text`: valid UTF-8, decoded. No value of the body is repeated in a fault: it may be a person's. */
export function readErasureBody(text: string): ErasureBodyReading {
  const reading = readJson(text, { maxDepth: 3 })
  const value: unknown = reading.kind === 'read' ? reading.value : undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'The body is not one JSON object such as {"feed":"contact","subjectId":"…","reason":"…"}.'
    return { kind: 'faults', errors: [{ pointer: '', code: 'not_an_object', message }] }
  }
  const given = new Map(Object.entries(value).filter(([, one]) => one !== null))
  const errors: ProblemError[] = [...given.keys()].flatMap(unknownMember)
  const fault = (member: Member, message: string): undefined => {
    errors.push({ pointer: `/${member}`, code: given.has(member) ? 'not_allowed' : 'missing', message })
    return undefined
  }
  const oneOf = <T extends string>(member: Member, allowed: readonly T[]): T | undefined =>
    allowed.find((word) => word === given.get(member)) ??
    fault(member, `${member} is one of ${allowed.join(', ')}.`)
  const matching = (member: Member, isAllowed: (text: string) => boolean, words: string) => {
    const one = given.get(member)
    if (one === undefined || (typeof one === 'string' && isAllowed(one))) return one
    return fault(member, `${member} is ${words}.`)
  }
  const feed = oneOf('feed', feedNames)
  const reason = oneOf('reason', erasureReasons)
  const target = readTarget(given, fault)
  const caseRef = matching(
    'caseRef',
    isCaseRef,
    'at most 40 characters of A-Z, a-z, 0-9 and -, and no name of a person',
  )
  const receivedOn = matching('receivedOn', isDate, 'a day such as 2026-01-31')
  if (errors.length > 0 || feed === undefined || reason === undefined || target === undefined)
    return { kind: 'faults', errors }
  return { kind: 'body', body: { feed, target, reason, caseRef, receivedOn } }
}

function readTarget(
  given: ReadonlyMap<string, unknown>,
  fault: (member: Member, message: string) => undefined,
): ErasureTarget | undefined {
  const [subject, event] = [given.get('subjectId'), given.get('eventId')]
  if ((subject === undefined) === (event === undefined))
    return fault(
      'subjectId',
      'Exactly one of subjectId (a property or contact) and eventId (one event) is given.',
    )
  const member = subject === undefined ? 'eventId' : 'subjectId'
  const text = subject ?? event
  const id = typeof text === 'string' ? parseUuid(text) : undefined
  if (id === undefined) return fault(member, `${member} is a UUID: 8-4-4-4-12 hexadecimal digits.`)
  return subject === undefined ? { kind: 'event', eventId: id } : { kind: 'subject', subjectId: id }
}

function isCaseRef(text: string): boolean {
  return /^[A-Za-z0-9-]{1,40}$/.test(text)
}

/** A day that exists. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

function unknownMember(name: string): readonly ProblemError[] {
  if (members.some((member) => member === name)) return []
  const nearest = nearestName(name, members)
  const known = `There are: ${members.join(', ')}.`
  const message = nearest === undefined ? known : `Did you mean ${nearest}? ${known}`
  return [{ pointer: `/${quoteInput(name).slice(1, -1)}`, code: 'unknown_member', message }]
}
