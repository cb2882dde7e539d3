/** Where stamps come from (D25), and how far an answered window pushes the stamps that come after it (P3). */
import { ticksOfMilliseconds, ticksPerMillisecond } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'

/**
 * A clock that is read in place of the machine's: one tick count in shared memory (a `BigInt64Array` of length 1 over a
 * `SharedArrayBuffer`), because an engine may stamp in another thread, where a function cannot follow.
 */
export type SharedClock = BigInt64Array<SharedArrayBuffer>

/**
 * The time now. `Date.now()` and not the finer `performance` clock: that one never sees the machine's clock being set
 * right, and a server runs for months. Events within one millisecond are told apart by a tick each (D25).
 */
export function readClock(clock: SharedClock | undefined): Ticks {
  return clock === undefined ? ticksOfMilliseconds(Date.now()) : Atomics.load(clock, 0)
}

/**
 * The least stamp of all that is committed after a window was answered at `now` (P3). The clock counts whole
 * milliseconds, and a client may note its time of asking more finely: the floor is the end of the millisecond.
 */
export function floorAfter(now: Ticks): Ticks {
  return now + ticksPerMillisecond
}
