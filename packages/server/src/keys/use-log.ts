import { addInParts } from '../sql/add-in-parts.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { startFlushing } from '../runtime/write-buffer.ts'
import type { Flushing } from '../runtime/write-buffer.ts'
import type { KeyStore } from './key.ts'

/** Whoever changes a key waits for as many rows at most. */
const usesPerStatement = 500
const noRest = async (): Promise<void> => undefined

/**
 * Collects the last uses of keys and writes each key once in half a minute instead of once for each request (D11: at most a minute late).
 * Uses that could not be written are kept for the next time.
 */
interface UseLog extends Flushing {
  record(keyId: string, usedMs: number): void
}

export function createUseLog(keys: Pick<KeyStore, 'recordKeyUses'>, report: TaskReport): UseLog {
  let uses = new Map<string, number>()

  async function write(): Promise<void> {
    if (uses.size === 0) return
    const batch = [...uses].map(([keyId, usedMs]) => ({ keyId, usedMs }))
    uses = new Map()
    const left = await addInParts(batch, usesPerStatement, (some) => keys.recordKeyUses(some), noRest)
    if (left === undefined) return
    for (const { keyId, usedMs } of left.rows) record(keyId, usedMs)
    throw left.failure
  }

  function record(keyId: string, usedMs: number): void {
    uses.set(keyId, Math.max(usedMs, uses.get(keyId) ?? 0))
  }

  return { record, ...startFlushing('record_key_uses', report, write) }
}
