/** Knows which key ids exist, so that the service can tell a key from a guess without a query for each (D10). */
import type { TaskReport } from '../runtime/background-task.ts'
import type { KeyStore } from './key.ts'

interface KeyIdCache {
  has(keyId: string): boolean
  /**
   * Resolves when the ids have been read again, by a reading that began after the call; then `has` is up to date. Resolves to `false` at
   * once if too many requests wait already, or if the store did not answer.
   */
  renewed(): Promise<boolean>
}

/** The least time between the beginnings of two readings, so that strangers cannot have the ids read more often. */
const renewalMs = 1_000
/** A waiting request holds a connection. */
const mostWaiting = 1_000

/** `clock`: milliseconds. `delay`: resolves after the given number of milliseconds. */
export function keyIdCache(
  keys: Pick<KeyStore, 'keyIds'>,
  clock: () => number,
  delay: (ms: number) => Promise<void>,
  report: TaskReport,
): KeyIdCache {
  let ids: ReadonlySet<string> = new Set()
  let readMs = -Infinity
  let waiting = 0
  let next: Promise<boolean> | undefined

  const renew = async (): Promise<boolean> => {
    const sinceMs = clock() - readMs
    // If the clock is set back, nobody waits longer. The reading never begins at once, so that all requests of one turn share it.
    await (sinceMs >= 0 && sinceMs < renewalMs ? delay(renewalMs - sinceMs) : undefined)
    // A key that is asked for after this point may have been made too late for this reading.
    next = undefined
    readMs = clock()
    try {
      ids = new Set(await keys.keyIds())
      report.worked('read_key_ids')
      return true
    } catch (error) {
      report.failed('read_key_ids', error)
      return false
    }
  }

  return {
    has: (keyId) => ids.has(keyId),
    async renewed() {
      if (waiting >= mostWaiting) return false
      waiting += 1
      try {
        return await (next ??= renew())
      } finally {
        waiting -= 1
      }
    },
  }
}
