/** What answers show of a publisher's or consumer's silence (PROTOCOL §14.7). */
import { expectedInterval } from './rules.ts'
import { timeOf } from '../../http/time-of.ts'
import type { Presence } from './silence.ts'

/** `undefined` if nothing is recorded. */
export function silenceMembers(presence: Presence | undefined, nowMs: number) {
  const expected = presence && expectedInterval(presence, nowMs)
  return {
    expectedSeconds: expected === undefined ? null : Math.round(expected.ms / 1_000),
    expectation: expectationOf(presence, expected?.isSet),
    silentSince: timeOf(presence?.silentMs),
  }
}

function expectationOf(presence: Presence | undefined, isSet: boolean | undefined) {
  if (presence?.expectation === 'never') return 'off'
  if (isSet === undefined) return 'learning'
  return isSet ? 'set' : 'learned'
}
