/**
 * Keeps the resident memory of the process near what is promised, also while a service is attacked. The budget of bytes in flight counts
 * what requests hold, and not what they leave behind: garbage, of which V8 lets up to three times the live objects pile up, and what the C
 * library keeps of what was freed. During a siege with PostgreSQL these were 210 and 190 MiB of 900.
 *
 * While resident memory is above what pages, bodies and answers may have in all, the budget accepts nothing large, from anybody: first no
 * snapshots, long runs and large pages, a little later no large publications. Small requests go on. Meanwhile memory is given back under
 * load, which otherwise happens once a thread is calm (thread-memory.ts). No ordinary load comes near the limit, so none pays for it.
 */
import type * as NodeFfi from 'node:ffi'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { BroadcastChannel } from 'node:worker_threads'

const mebibyte = 2 ** 20

/** Beside pages and what is in flight: 110 MB at rest, and garbage while a hundred events a request are published at full rate (300 MB in all). */
const besideBytes = 120 * mebibyte

/** A service of many keys and tenants takes more at rest; beside that, and what is in flight, it may have this much. */
const besideUsualBytes = 50 * mebibyte

export interface AllowedMemory {
  readonly pageMemoryBytes: number
  readonly inFlightBytes: number
}

/** Counts that all threads share. */
interface MemoryCounts {
  /** Kibibytes in flight. */
  readonly units: number
  /** Resident memory above which nothing large is accepted; 0: no limit. */
  memoryLimitBytes: number
}

/**
 * One for the process, until it is closed. Does nothing without `--expose-gc`, which the program passes to the processes that serve: in
 * others, what is resident need not be the service's.
 */
export function boundMemory(allowed: AllowedMemory, counts: MemoryCounts): { close(): Promise<void> } {
  const stops = [limitMemory(allowed, counts), relieveMemory(() => counts.memoryLimitBytes)]
  return {
    async close() {
      for (const stop of stops) stop()
    },
  }
}

const limitEveryMs = 1_000

/** Sets the limit of resident memory, and keeps it up to date. Returns a function that stops it. */
export function limitMemory(
  { pageMemoryBytes, inFlightBytes }: AllowedMemory,
  counts: MemoryCounts,
  resident: () => number = residentBytes,
): () => void {
  if (resident === residentBytes && globalThis.gc === undefined) return () => undefined
  const least = pageMemoryBytes + inFlightBytes + besideBytes
  const leastAtRest = leastOfPeriods()
  const setLimit = (): void => {
    const atRest = leastAtRest(resident() - counts.units * 1_024)
    counts.memoryLimitBytes = Math.max(least, atRest + inFlightBytes + besideUsualBytes)
  }
  setLimit()
  const timer = setInterval(setLimit, limitEveryMs).unref()
  return () => clearInterval(timer)
}

/** What is taken at rest is the least of this period and of the one before: five to ten minutes. */
const periodMs = 300_000

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

interface ReliefOptions {
  readonly residentBytes?: () => number
  readonly trim?: () => void
  /** Has every thread collect its garbage. */
  readonly collect?: () => void
  readonly everyMs?: number
}

/** Every thread of the process hears it, the one that writes for SQLite included. */
const collectChannel = 'property-events: collect garbage'

/** Checks between two collections, while memory stays above the limit: from 1 s to half a minute. */
const fewestChecks = 2
const mostChecks = 60

/** A collection was of use if no more than this is left at the next check. */
const usefulShare = 0.95

/** Gives memory back from this much resident memory on. Returns a function that stops it. */
export function relieveMemory(limitBytes: () => number, options: ReliefOptions = {}): () => void {
  const { residentBytes: resident = residentBytes, trim = trimMemory, everyMs = 500 } = options
  if (options.collect === undefined && globalThis.gc === undefined) return () => undefined
  const port = new BroadcastChannel(collectChannel)
  port.unref()
  const { collect = () => port.postMessage('now') } = options
  let checksToWait = 0
  let waitChecks = fewestChecks
  let bytesBefore: number | undefined
  const check = (): void => {
    const bytes = resident()
    const limit = limitBytes()
    if (bytesBefore !== undefined) {
      // What is still there is in use: collecting again soon would be in vain.
      waitChecks = bytes < usefulShare * bytesBefore ? fewestChecks : Math.min(mostChecks, 2 * waitChecks)
      bytesBefore = undefined
    }
    if (bytes < limit) {
      checksToWait = 0
      return
    }
    trim()
    checksToWait -= 1
    if (checksToWait >= 0 || resident() < limit) return
    bytesBefore = bytes
    checksToWait = waitChecks
    collect()
  }
  const timer = setInterval(check, everyMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    port.close()
  }
}

/** Has the calling thread collect its garbage when `relieveMemory` asks for it. Returns a function that stops it. */
export function collectOnRequest(): () => void {
  const { gc } = globalThis
  if (gc === undefined) return () => undefined
  const port = new BroadcastChannel(collectChannel)
  port.addEventListener('message', () => gc({ type: 'major', execution: 'sync' }))
  // It keeps no thread alive.
  port.unref()
  return () => port.close()
}

let lastResident = 0

/** Bytes. Node opens a file to learn them: where no descriptor is free, they are those of the call before. */
export function residentBytes(): number {
  try {
    lastResident = process.memoryUsage.rss()
  } catch {
    // The next call will do.
  }
  return lastResident
}

/** Asking the system takes 10 µs. An attack was seen to bring 400 MiB in a second. */
const validMs = 10

/** The same, as of 10 ms ago at most. */
export function recentResidentBytes(): () => number {
  let bytes = 0
  let untilMs = 0
  return () => {
    const nowMs = performance.now()
    if (nowMs >= untilMs) {
      untilMs = nowMs + validMs
      bytes = residentBytes()
    }
    return bytes
  }
}

let trim: (() => void) | undefined

/**
 * For any thread: gives back what the C library keeps of what all of them have freed. It keeps blocks of less than 128 kB wherever
 * something that is still in use lies above them: after hostile readers and publications 120 to 200 MiB stayed resident, while V8's heaps
 * had 37. What this needs is loaded by the first call (1.2 ms, 1 MB).
 */
export function trimMemory(): void {
  trim ??= memoryTrimmer() ?? (() => undefined)
  trim()
}

/**
 * Calls `malloc_trim`, with Node 26 (`node:ffi`, which is experimental there). Undefined on an older Node, or on another library than
 * glibc: nothing is trimmed.
 */
export function memoryTrimmer(): (() => void) | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const ffi: typeof NodeFfi | undefined = process.getBuiltinModule('node:ffi')
    // In the program itself: of whichever C library it runs on.
    const library = ffi?.dlopen(null, { malloc_trim: { arguments: ['u64'], return: 'i32' } })
    return library && (() => void library.functions.malloc_trim(0n))
  } catch {
    // Another C library has no such function, and Node's permissions may forbid the call.
    return undefined
  }
}
