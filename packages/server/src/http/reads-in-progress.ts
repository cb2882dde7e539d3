/**
 * Reads whose answers are being made. An erasure waits for them, so that what they will send is noted before it is `unreachable` (D17,
 * D28).
 */
import { setTimeout as delay } from 'node:timers/promises'

export interface ReadsInProgress {
  /** `reading` settles once what was read is noted as sent, or will not be sent. */
  add(reading: Promise<unknown>): void
  /**
   * Resolves when all reads under way now have settled, and after `atMostMs` in any case, so that one that hangs does not hold up an
   * erasure for ever.
   */
  settled(atMostMs: number): Promise<void>
}

export function readsInProgress(): ReadsInProgress {
  const underWay = new Set<Promise<unknown>>()
  return {
    add(reading) {
      underWay.add(reading)
      const remove = (): void => void underWay.delete(reading)
      reading.then(remove, remove)
    },
    async settled(atMostMs) {
      if (underWay.size === 0) return
      const over = new AbortController()
      const late = delay(atMostMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined)
      await Promise.race([Promise.allSettled(underWay), late])
      over.abort()
    },
  }
}
