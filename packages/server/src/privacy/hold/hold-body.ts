/** The body of a request to put a property or contact on hold (PROTOCOL §5.7). */
import { feedNames, holdGrounds } from '@property-events/protocol'
import type { FeedName, HoldGround, ProblemError } from '@property-events/protocol'
import { isDay, readCaseRef, readMembers } from '../../http/requests/body-members.ts'

export interface HoldBody {
  readonly feed: FeedName
  readonly subjectId: string
  readonly ground: HoldGround
  /** The last day of the hold, as written. */
  readonly until: string
  /** The first millisecond after it. */
  readonly untilMs: number
  readonly caseRef: string | undefined
}

type HoldBodyReading =
  | { readonly kind: 'body'; readonly body: HoldBody }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

const names = ['feed', 'subjectId', 'ground', 'until', 'caseRef'] as const

const dayMs = 86_400_000
/** A hold is not for ever, and a year is easily mistyped. */
const longestYears = 20

export function readHoldBody(text: string, nowMs: number): HoldBodyReading {
  const reading = readMembers(
    text,
    names,
    '{"feed":"contact","subjectId":"…","ground":"…","until":"2027-12-31"}',
  )
  if (reading.kind === 'faults') return reading
  const { members } = reading
  const feed = members.oneOf('feed', feedNames)
  const subjectId = members.uuid('subjectId')
  const ground = members.oneOf('ground', holdGrounds)
  const latestMs = new Date(nowMs).setUTCFullYear(new Date(nowMs).getUTCFullYear() + longestYears)
  const isUntil = (day: string): boolean => {
    const endMs = isDay(day) ? endOf(day) : 0
    return endMs > nowMs && endMs <= latestMs
  }
  const words = `a day such as 2027-12-31, which it includes (UTC): today or later, and at most ${longestYears} years from now`
  const until = members.matching('until', isUntil, words)
  if (!members.given.has('until')) members.fault('until', `until must be ${words}.`)
  const caseRef = readCaseRef(members)
  const { errors } = members
  const isWhole = feed !== undefined && subjectId !== undefined && ground !== undefined && until !== undefined
  if (errors.length > 0 || !isWhole) return { kind: 'faults', errors }
  return { kind: 'body', body: { feed, subjectId, ground, until, untilMs: endOf(until), caseRef } }
}

function endOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + dayMs
}
