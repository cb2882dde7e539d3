import { addInParts } from '../add-in-parts.ts'
import type { TaskReport } from '../background-task.ts'
import type { KeyStore } from '../storage/storage.ts'

/**
 * Collects the last uses of keys and writes each key once in half a minute instead of once for each request (D11: at most a minute late).
 */
const flushEveryMs = 30_000
/** Whoever changes a key waits for as many rows at most. */
const usesPerStatement = 500
const noRest = async (): Promise<void> => undefined

export interface UseLog {
  record(keyId: string, usedMs: number): void
  /** Writes the collected uses. If that fails, it keeps them for the next time and throws the failure. */
  flush(): Promise<void>
  /** Writes one last time, if the store can still be reached. */
  close(): Promise<void>
}

export function createUseLog(keys: Pick<KeyStore, 'recordKeyUses'>, report: TaskReport): UseLog {
  let uses = new Map<string, number>()
  let flushing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    if (uses.size === 0) return
    const taken = [...uses].map(([keyId, usedMs]) => ({ keyId, usedMs }))
    uses = new Map()
    const left = await addInParts(taken, usesPerStatement, (some) => keys.recordKeyUses(some), noRest)
    if (left === undefined) {
      report.worked('record_key_uses')
      return
    }
    report.failed('record_key_uses', left.failure)
    for (const { keyId, usedMs } of left.rows) record(keyId, usedMs)
    throw left.failure
  }

  function record(keyId: string, usedMs: number): void {
    uses.set(keyId, Math.max(usedMs, uses.get(keyId) ?? 0))
  }

  function flush(): Promise<void> {
    flushing = flushing.then(write, write)
    return flushing
  }

  // The last use of a key is a convenience, and the failure has been reported.
  const quietly = () => flush().catch(() => undefined)
  const timer = setInterval(() => void quietly(), flushEveryMs)
  timer.unref()

  return {
    record,
    flush,
    async close() {
      clearInterval(timer)
      await quietly()
    },
  }
}
