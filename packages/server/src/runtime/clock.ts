/** The source of stamps (D25), and how an answered window pushes later stamps forward (P3). */
import { ticksOfMilliseconds, ticksPerMillisecond } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'

/**
 * A clock that replaces the machine's: one tick count in shared memory (a `BigInt64Array` of length 1 over a `SharedArrayBuffer`),
 * because an engine may stamp in another thread, where a function cannot go.
 */
export type SharedClock = BigInt64Array<SharedArrayBuffer>

/**
 * The time now. It uses `Date.now()` and not the finer `performance` clock, which never notices that the machine's clock was corrected,
 * and a server runs for months. Events within one millisecond differ by a tick each (D25).
 */
export function readClock(clock: SharedClock | undefined): Ticks {
  return clock === undefined ? ticksOfMilliseconds(Date.now()) : Atomics.load(clock, 0)
}

/**
 * The earliest stamp for everything that is committed after a window was answered at `now` (P3). The clock counts whole milliseconds, and
 * a client may note its time more precisely, so the floor is the end of the millisecond.
 */
export function floorAfter(now: Ticks): Ticks {
  return now + ticksPerMillisecond
}
