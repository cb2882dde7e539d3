/**
 * Keeps resident memory near what is promised while a service is attacked. The budget of bytes in flight counts what requests hold, and not
 * what they leave behind until it is collected: garbage, and blocks that the C library keeps. While resident memory is above what pages,
 * bodies and answers may have in all, the budget accepts nothing large, from anybody: first no snapshots, long runs and large pages,
 * a little later no large publications. Small requests go on. `relieveMemory` meanwhile gives back what can be given back.
 */
import { performance } from 'node:perf_hooks'
import { residentBytes } from './resident-memory.ts'
import { bytesPerUnit } from '../../http/bytes-in-flight.ts'
import type { NodeCounts } from '../../http/bytes-in-flight.ts'

const mebibyte = 2 ** 20

/** What the service takes beside: 110 MB at rest, and garbage while a hundred events a request are published at full rate (300 MB in all). */
const besideBytes = 120 * mebibyte

export interface Allowed {
  readonly pageMemoryBytes: number
  readonly inFlightBytes: number
}

/** Where little is taken at rest. */
function fixedLimit({ pageMemoryBytes, inFlightBytes }: Allowed): number {
  return pageMemoryBytes + inFlightBytes + besideBytes
}

/** A service of many keys and tenants takes more at rest; beside that, and what is in flight, it may have this much. */
const besideUsualBytes = 50 * mebibyte

const lookMs = 1_000

/** What is taken at rest is the least of this period and of the one before: five to ten minutes. */
const periodMs = 300_000

/**
 * Sets the limit of resident memory, and keeps it up to date. One for the process. Does nothing without
 * `--expose-gc`, which the program passes to the processes that serve: in others, what is resident need not be the service's. Returns a
 * function that stops it.
 */
export function limitMemory(allowed: Allowed, counts: NodeCounts, resident = residentBytes): () => void {
  if (resident === residentBytes && globalThis.gc === undefined) return () => undefined
  const leastAtRest = leastOfPeriods()
  const { inFlightBytes } = allowed
  const look = (): void => {
    const held = counts.units * bytesPerUnit
    const atRest = leastAtRest(resident() - held)
    counts.memoryLimitBytes = Math.max(fixedLimit(allowed), atRest + inFlightBytes + besideUsualBytes)
  }
  look()
  const timer = setInterval(look, lookMs).unref()
  return () => clearInterval(timer)
}

/** The least number of this period and of the last one. */
function leastOfPeriods(): (bytes: number) => number {
  let endsMs = performance.now() + periodMs
  let now = Infinity
  let before = Infinity
  return (bytes) => {
    now = Math.min(now, bytes)
    const least = Math.min(now, before)
    const nowMs = performance.now()
    if (nowMs >= endsMs) {
      endsMs = nowMs + periodMs
      before = now
      now = Infinity
    }
    return least
  }
}
