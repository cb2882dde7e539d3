import { parseWindowBound } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import type { SharedClock } from '../../../src/runtime/clock.ts'

export interface TestClock {
  readonly clock: SharedClock
  readonly set: (text: string) => void
}

/** A clock that stands still until it is set, and that an engine's other threads see too. */
export function testClock(text: string): TestClock {
  const clock = new BigInt64Array(new SharedArrayBuffer(8))
  const set = (text: string): void => {
    Atomics.store(clock, 0, ticks(text))
  }
  set(text)
  return { clock, set }
}

/** The first tick of a written time. */
export function ticks(text: string): Ticks {
  const parsed = parseWindowBound('from', text)
  if (parsed === undefined) throw new Error(`not a time: ${text}`)
  return parsed
}
