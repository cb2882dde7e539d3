/**
 * V8 collects garbage when new objects come. A thread that comes to rest keeps what its last burst left, for as long as nothing comes: so it
 * is told to collect then. It takes some tens of milliseconds once after a burst, while hardly anybody asks.
 */
import { performance } from 'node:perf_hooks'

interface RestOptions {
  readonly collect?: (() => void) | undefined
  readonly lookMs?: number
  /** A burst has kept the thread busy for so long. */
  readonly burstMs?: number
}

/** Of the time between two looks. */
const restShare = 0.2

/**
 * For the thread that calls it; nothing where Node was started without `--expose-gc`, with which the program starts it for what serves.
 * Returns what ends it.
 */
export function collectAtRest(options: RestOptions = {}): () => void {
  const { collect = collectAll(), lookMs = 5_000, burstMs = 2_000 } = options
  if (collect === undefined) return () => undefined
  let last = performance.eventLoopUtilization()
  let busyMs = 0
  const look = (): void => {
    const now = performance.eventLoopUtilization()
    const { active, utilization } = performance.eventLoopUtilization(now, last)
    last = now
    busyMs += active
    if (busyMs < burstMs || utilization > restShare) return
    busyMs = 0
    collect()
  }
  const timer = setInterval(look, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Everything that can be collected; the pages that it lay in are given back to the system. */
function collectAll(): (() => void) | undefined {
  const { gc } = globalThis
  return gc && (() => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }))
}
