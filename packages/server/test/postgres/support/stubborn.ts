/** A client that keeps to what it wants: the same request again, until it is answered. */
import { setTimeout as delay } from 'node:timers/promises'
import { StorageFailure } from '../../../src/sql/storage-errors.ts'
import type { LoadTarget } from './load.ts'

export interface Patience {
  /** Requests that failed and were made again. */
  failures: number
  /** The longest any single request took, answered or not. */
  longestMs: number
}

export function stubborn(target: LoadTarget, patience: Patience): LoadTarget {
  const insist = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (;;) {
      const started = performance.now()
      try {
        return await ask()
      } catch (error) {
        // Anything else is not what an engine may answer with.
        if (!(error instanceof StorageFailure)) throw error
        patience.failures += 1
        await delay(50)
      } finally {
        patience.longestMs = Math.max(patience.longestMs, performance.now() - started)
      }
    }
  }
  return {
    publish: (name, subject) => insist(() => target.publish(name, subject)),
    after: (number) => insist(() => target.after(number)),
    since: (ms) => insist(() => target.since(ms)),
    all: () => insist(() => target.all()),
  }
}
