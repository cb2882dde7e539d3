/** Logs, once for each, which holds have expired: what they protected can be erased again (PROTOCOL §5.7). */
import type { HoldStore } from './hold.ts'
import type { Logger } from 'pino'
import { unreported } from '../../runtime/background-task.ts'
import type { TaskReport } from '../../runtime/background-task.ts'
import { startWorker } from '../../runtime/worker-loop.ts'
import type { Worker } from '../../runtime/worker-loop.ts'

/** A hold ends with a day. One probe of a small index. */
const checkEveryMs = 60_000

/** Looks at once and then every minute. A store that fails is asked again the next time. Nothing personal is logged. */
export function reportExpiredHolds(
  storage: { readonly holds: HoldStore },
  log: Pick<Logger, 'warn'>,
  report: TaskReport = unreported,
  everyMs: number = checkEveryMs,
): Worker {
  return startWorker({ task: 'report_holds', report, retryMs: everyMs }, async () => {
    for (const { holdId, key, ground } of await storage.holds.reportExpired()) {
      const words = { holdId, tenantId: key.tenantId, feed: key.feed, ground }
      log.warn(words, 'a hold has expired: what it kept can be erased again')
    }
    return { waitMs: everyMs }
  })
}
