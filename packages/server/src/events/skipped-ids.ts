/**
 * How long an id is kept that came with an unchanged payload and has no event of its own (PROTOCOL §4.6, decision 0003). Without an end
 * they would pile up: a nightly file brings a new id for every property.
 */
import { ticksPerMillisecond } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'

const keptDays = 30n

/** 30 days. */
export const skippedIdKeptTicks: Ticks = keptDays * 24n * 3_600_000n * ticksPerMillisecond

/**
 * How many are removed at a time. On SQLite, where publishing waits for it, this took 4 ms among a million ids (the longest of 60 steps
 * 21 ms), and 500 took 19 ms (48 ms).
 */
export const skippedIdsPerStep = 200

/** Ids skipped before this moment may be removed. */
export function skippedIdsEnd(now: Ticks): Ticks {
  return now - skippedIdKeptTicks
}
