/** The members of a small JSON body, read strictly. Faults repeat no value, because it may be about a person. */
import { invalidJson, nearestName, parseUuid, readJson } from '@property-events/protocol'
import type { JsonReading, ProblemError } from '@property-events/protocol'
import { syntaxFaultText } from './syntax-remedy.ts'
import { quoteInput } from './echo-text.ts'

export interface BodyMembers<Member extends string> {
  /** The members that were sent, except those that are null. */
  readonly given: ReadonlyMap<string, unknown>
  /** Members that were sent as null. */
  readonly nulls: ReadonlySet<string>
  /** In the order in which they were found. */
  readonly errors: readonly ProblemError[]
  /** Notes a fault, and returns nothing. */
  fault(member: Member, message: string): undefined
  oneOf<T extends string>(member: Member, allowed: readonly T[]): T | undefined
  /** A text; `words` describe the allowed ones. */
  matching(member: Member, isAllowed: (text: string) => boolean, words: string): string | undefined
  /** In lower case. */
  uuid(member: Member): string | undefined
}

export type MembersReading<Member extends string> =
  | { readonly kind: 'members'; readonly members: BodyMembers<Member> }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** What a body of one form says. */
export type BodyReading<Body> =
  | { readonly kind: 'body'; readonly body: Body }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

/** Reads a body of one form. `read` notes the faults, and returns nothing if something is missing. */
export function readObject<Member extends string, Body>(
  text: string,
  names: readonly Member[],
  example: string,
  read: (members: BodyMembers<Member>) => Body | undefined,
  maxDepth?: number,
): BodyReading<Body> {
  const reading = readMembers(text, names, example, maxDepth)
  if (reading.kind === 'faults') return reading
  const body = read(reading.members)
  const { errors } = reading.members
  return errors.length > 0 || body === undefined ? { kind: 'faults', errors } : { kind: 'body', body }
}

/** A request of this kind has some 200 bytes. */
export const maxSmallBodyBytes = 4_096

/** `text`: valid UTF-8, decoded. `example`: a valid body. */
export function readMembers<Member extends string>(
  text: string,
  names: readonly Member[],
  example: string,
  maxDepth = 3,
): MembersReading<Member> {
  const reading = readJson(text, { maxDepth })
  const value: unknown = reading.kind === 'read' ? reading.value : undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = `${whyNoObject(text, reading)} The body must be one JSON object such as ${example}.`
    return { kind: 'faults', errors: [{ pointer: '', code: 'not_an_object', message }] }
  }
  const given = new Map(Object.entries(value).filter(([, one]) => one !== null))
  const nulls = new Set(Object.keys(value).filter((name) => !given.has(name)))
  const errors: ProblemError[] = [...given.keys()].flatMap((name) => unknownMember(name, names))
  const fault = (member: Member, message: string): undefined => {
    errors.push({ pointer: `/${member}`, code: given.has(member) ? 'not_allowed' : 'missing', message })
    return undefined
  }
  return {
    kind: 'members',
    members: {
      given,
      nulls,
      errors,
      fault,
      oneOf: (member, allowed) =>
        allowed.find((word) => word === given.get(member)) ??
        fault(member, `${member} must be one of ${allowed.join(', ')}.`),
      matching(member, isAllowed, words) {
        const one = given.get(member)
        if (typeof one === 'string' && isAllowed(one)) return one
        return one === undefined ? undefined : fault(member, `${member} must be ${words}.`)
      },
      uuid(member) {
        const one = given.get(member)
        const id = typeof one === 'string' ? parseUuid(one) : undefined
        return id ?? fault(member, `${member} must be a UUID: 8-4-4-4-12 hexadecimal digits, with hyphens.`)
      },
    },
  }
}

/** The place of a fault of syntax; no text around it, which may be about a person. */
function whyNoObject(text: string, reading: JsonReading): string {
  if (text.trim() === '') return 'The body is empty.'
  if (reading.kind === 'read') return 'This is JSON, but not an object.'
  if (reading.fault.message !== invalidJson) return reading.fault.message
  return syntaxFaultText(text)
}

/** The reference of a case, in a form that is allowed in an erasure or a hold. */
export function readCaseRef(members: BodyMembers<'caseRef'>): string | undefined {
  const words = 'at most 40 characters of A-Z, a-z, 0-9 and -, and no name of a person'
  return members.matching('caseRef', (text) => /^[A-Za-z0-9-]{1,40}$/.test(text), words)
}

/** Whether the day exists. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

function unknownMember(name: string, members: readonly string[]): readonly ProblemError[] {
  if (members.some((member) => member === name)) return []
  const nearest = nearestName(name, members)
  const known = `Allowed: ${members.join(', ')}.`
  const message = `Not a member of this body.${nearest === undefined ? '' : ` Did you mean ${nearest}?`} ${known}`
  return [{ pointer: `/${quoteInput(name).slice(1, -1)}`, code: 'unknown_member', message }]
}
