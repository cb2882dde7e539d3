/** Logs, once for each, which holds have expired: what they protected can be erased again (PROTOCOL §5.7). */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { reported, unreported } from '../background-task.ts'
import type { TaskReport } from '../background-task.ts'
import type { StorageEngine } from '../storage/storage.ts'

/** A hold ends with a day. One probe of a small index. */
const lookEveryMs = 60_000

export interface HoldReporting {
  /** Resolves when the look under way has ended; none begins after that. */
  close(): Promise<void>
}

/** Looks at once and then every minute. A store that fails is asked again the next time. Nothing personal is logged. */
export function reportExpiredHolds(
  storage: Pick<StorageEngine, 'holds'>,
  log: Pick<Logger, 'warn'>,
  report: TaskReport = unreported,
  everyMs: number = lookEveryMs,
): HoldReporting {
  const closing = new AbortController()
  const { signal } = closing
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const expired = (await reported(report, 'report_holds', storage.holds.reportExpired())) ?? []
      for (const { holdId, key, ground } of expired) {
        const words = { holdId, tenantId: key.tenantId, feed: key.feed, ground }
        log.warn(words, 'a hold has expired: what it kept can be erased again')
      }
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
