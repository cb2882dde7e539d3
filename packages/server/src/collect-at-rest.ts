/**
 * V8 collects garbage when new objects come. A thread that comes to rest keeps what its last burst left for as long as nothing comes, so it is
 * told to collect then. A collection takes some tens of milliseconds, and V8 forgets the code that it has compiled: after one, each
 * publication cost up to 40 µs more for some seconds. So it happens once after a burst, and never under a light but steady load.
 */
import { performance } from 'node:perf_hooks'

interface RestOptions {
  readonly collect?: (() => void) | undefined
  readonly lookMs?: number
  /** A burst keeps the thread busy for at least so long. */
  readonly burstMs?: number
  /** How busy the thread has been since the last look. Left out: as Node measures it. */
  readonly busySince?: () => Busy
}

interface Busy {
  readonly activeMs: number
  /** Of the time since the last look, from 0 to 1. */
  readonly share: number
}

/** A thread that is busy for less of its time than this is at rest. */
const restShare = 0.05

/** So many looks in a row have to find the thread at rest: 15 s. */
const looksAtRest = 3

/**
 * For the thread that calls it; nothing where Node was started without `--expose-gc`, with which the program starts it for what serves.
 * Returns what ends it.
 */
export function collectAtRest(options: RestOptions = {}): () => void {
  const { collect = collectAll(), lookMs = 5_000, burstMs = 2_000, busySince = nodeLooks() } = options
  if (collect === undefined) return () => undefined
  let busyMs = 0
  let rested = 0
  const look = (): void => {
    const { activeMs, share } = busySince()
    if (share > restShare) {
      busyMs += activeMs
      rested = 0
      return
    }
    rested += 1
    if (rested < looksAtRest || busyMs < burstMs) return
    busyMs = 0
    collect()
  }
  const timer = setInterval(look, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}

function nodeLooks(): () => Busy {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { active, utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return { activeMs: active, share: utilization }
  }
}

/** Everything that can be collected; the pages that it lay in are given back to the system. */
function collectAll(): (() => void) | undefined {
  const { gc } = globalThis
  return gc && (() => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }))
}
