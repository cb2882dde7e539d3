/** Which key ids there are, for telling a key from a guess without asking the store about each (D10). */
import type { TaskReport } from '../background-task.ts'
import type { KeyStore } from '../storage/storage.ts'

export interface KnownIds {
  has(keyId: string): boolean
  /**
   * Resolves when the ids have been read once more, from after the call on; then `has` is up to date. `false`: at once, because too
   * many wait already or the store did not answer.
   */
  renewed(): Promise<boolean>
}

/** Between the beginnings of two readings: strangers cannot have the ids read more often. */
const renewalMs = 1_000
/** A request that waits holds a connection. */
const mostWaiting = 1_000

/** `clock`: milliseconds. `delay`: resolves after so many of them. */
export function knownIds(
  keys: Pick<KeyStore, 'keyIds'>,
  clock: () => number,
  delay: (ms: number) => Promise<void>,
  report: TaskReport,
): KnownIds {
  let ids: ReadonlySet<string> = new Set()
  let readMs = -Infinity
  let waiting = 0
  let next: Promise<boolean> | undefined

  const renew = async (): Promise<boolean> => {
    const sinceMs = clock() - readMs
    // A clock that was set back makes nobody wait longer.
    // Never at once: all that ask in one turn share a reading.
    await (sinceMs >= 0 && sinceMs < renewalMs ? delay(renewalMs - sinceMs) : undefined)
    // A key that is asked for from here on may have been made too late for this reading.
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
