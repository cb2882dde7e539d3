/**
 * Keeps resident memory near what is promised while a service is attacked. The budget of bytes in flight counts what requests hold, and not
 * what they leave behind until it is collected: garbage, and blocks that the C library keeps. While resident memory is above what pages,
 * bodies, answers and threads may have in all, the budget accepts nothing large, from anybody: first no snapshots, long runs and large pages,
 * a little later no large publications. Small requests go on. `relieveMemory` meanwhile gives back what can be given back.
 */
import { performance } from 'node:perf_hooks'
import { residentBytes } from '../resident-memory.ts'
import { bytesPerUnit, nodeCountWords } from './bytes-in-flight.ts'
import type { NodeCounts } from './bytes-in-flight.ts'

const mebibyte = 2 ** 20

/** What each thread takes beside: 110 MB at rest, and garbage while a hundred events a request are published at full rate (300 MB in all). */
const besideBytes = 120 * mebibyte

export interface Allowed {
  readonly pageMemoryBytes: number
  readonly inFlightBytes: number
  readonly threads: number
}

/** Where little is taken at rest. */
function fixedLimit({ pageMemoryBytes, inFlightBytes, threads }: Allowed): number {
  return pageMemoryBytes + inFlightBytes + threads * besideBytes
}

/** A service of many keys and tenants takes more at rest; beside that, and what is in flight, each thread may have this much. */
const besideUsualBytes = 50 * mebibyte

const lookMs = 1_000

/** What is taken at rest is the least of this period and of the one before: five to ten minutes. */
const periodMs = 300_000

/**
 * Sets the limit of resident memory for all threads of a node, and keeps it up to date. One for the process. Does nothing without
 * `--expose-gc`, which the program passes to the processes that serve: in others, what is resident need not be the service's. Returns a
 * function that stops it.
 */
export function limitMemory(allowed: Allowed, counts: NodeCounts, resident = residentBytes): () => void {
  if (resident === residentBytes && globalThis.gc === undefined) return () => undefined
  const words = new Int32Array(counts.words)
  const leastAtRest = leastOfPeriods()
  const { inFlightBytes, threads } = allowed
  const look = (): void => {
    const held = Atomics.load(words, nodeCountWords.units) * bytesPerUnit
    const atRest = leastAtRest(resident() - held)
    const limit = Math.max(fixedLimit(allowed), atRest + inFlightBytes + threads * besideUsualBytes)
    Atomics.store(words, nodeCountWords.memoryLimit, Math.floor(limit / mebibyte))
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
