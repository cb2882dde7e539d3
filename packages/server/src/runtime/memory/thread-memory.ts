/**
 * What each thread does about its own memory. V8 collects garbage when new objects are allocated, so an idle thread keeps what its last burst left behind. This makes an idle thread
 * collect. A collection takes some tens of milliseconds, and V8 forgets the code that it has compiled: after one, each publication cost up
 * to 40 µs more for some seconds. It therefore happens once after a burst, and never under a light but steady load.
 *
 * Memory that the C library keeps after a burst is returned as soon as the thread is calm. That forgets nothing, so it needs no rest.
 */
import { performance } from 'node:perf_hooks'
import { collectOnRequest, trimMemory } from './process-memory.ts'

/** Both of them. Returns a function that stops it. */
export function tendThreadMemory(): () => void {
  const stops = [collectAtRest(), collectOnRequest()]
  return () => {
    for (const stop of stops) stop()
  }
}

interface RestOptions {
  readonly collect?: (() => void) | undefined
  /** Returns to the system what the C library keeps. */
  readonly trim?: () => void
  readonly everyMs?: number
  /** A burst keeps the thread busy for at least this long. */
  readonly burstMs?: number
  /** How busy the thread has been since the last check. Default: Node's own measurement. */
  readonly busySince?: () => Busy
}

interface Busy {
  readonly activeMs: number
  /** As a share of the time since the last check, from 0 to 1. */
  readonly share: number
}

/** A thread that is busy for less than this share of its time is at rest: a few dozen requests a second take some 4 %. */
const restShare = 0.1

/** One that is busy for no more of its time than this is calm: nobody notices the millisecond or so that trimming takes. */
const calmShare = 0.2

/** This many checks in a row must find the thread at rest: 15 s. */
const checksAtRest = 3

/**
 * Watches the calling thread. Does nothing if Node was started without `--expose-gc`, which the program passes to the processes that
 * serve. Returns a function that stops it.
 */
export function collectAtRest(options: RestOptions = {}): () => void {
  const { collect = collectAll(), trim = trimMemory, busySince = nodeChecks() } = options
  const { everyMs = 5_000, burstMs = 2_000 } = options
  if (collect === undefined) return () => undefined
  const trimming = trimWhenCalm(trim, burstMs)
  let busyMs = 0
  let rested = 0
  const check = (): void => {
    const busy = busySince()
    const { activeMs, share } = busy
    trimming.check(busy)
    if (share > restShare) {
      busyMs += activeMs
      rested = 0
      return
    }
    rested += 1
    if (rested < checksAtRest || busyMs < burstMs) return
    busyMs = 0
    collect()
    trimming.trim()
  }
  const timer = setInterval(check, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Trims at the first check that finds the thread calm after a burst, and at the next. */
function trimWhenCalm(trim: () => void, burstMs: number) {
  let busyMs = 0
  let times = 0
  return {
    check({ activeMs, share }: Busy): void {
      if (share > calmShare) {
        busyMs += activeMs
        if (busyMs < burstMs) return
        busyMs = 0
        times = 2
      } else if (times > 0) {
        times -= 1
        trim()
      }
    },
    /** Now, and at the next calm check: V8 frees the memory of buffers beside the thread, and other threads may free theirs later. */
    trim(): void {
      times = 1
      trim()
    },
  }
}

function nodeChecks(): () => Busy {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { active, utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return { activeMs: active, share: utilization }
  }
}

/** Collects everything that can be collected, and returns the pages that it was in to the system. */
function collectAll(): (() => void) | undefined {
  const { gc } = globalThis
  return gc && (() => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }))
}
