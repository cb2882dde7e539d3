/** Bodies that say how long a publisher or consumer may be silent (PROTOCOL §14.7). */
import { longestSetMs, shortestSetMs } from './rules.ts'
import type { SetExpectation } from './silence.ts'
import { readMembers } from '../../http/requests/body-members.ts'
import type { BodyReading } from '../../tenants/routes/tenant-body.ts'

/** `undefined`: the interval is learned. */
export function readExpectedInterval(
  text: string,
): BodyReading<{ readonly expectation: SetExpectation | undefined }> {
  const reading = readMembers(text, ['seconds'], '{"seconds":3600}')
  if (reading.kind === 'faults') return reading
  const { members } = reading
  const seconds = members.given.get('seconds')
  if (members.nulls.has('seconds') && members.errors.length === 0) {
    return { kind: 'body', body: { expectation: undefined } }
  }
  if (!isAllowed(seconds)) {
    const [from, to] = [shortestSetMs / 1_000, longestSetMs / 1_000]
    members.fault(
      'seconds',
      `seconds must be a whole number from ${from} to ${to}; 0 if nothing is expected; or null for the interval that is learned.`,
    )
    return { kind: 'faults', errors: members.errors }
  }
  if (members.errors.length > 0) return { kind: 'faults', errors: members.errors }
  return { kind: 'body', body: { expectation: seconds === 0 ? 'never' : seconds * 1_000 } }
}

function isAllowed(seconds: unknown): seconds is number {
  if (typeof seconds !== 'number' || !Number.isInteger(seconds)) return false
  return seconds === 0 || (seconds * 1_000 >= shortestSetMs && seconds * 1_000 <= longestSetMs)
}
