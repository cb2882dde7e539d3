/**
 * Patience with a total that falls while pages are walked. There may be several nodes at one address, and one that lags
 * reports fewer events than the previous answer. A walk that went back each time would never end.
 */
import type { Connection } from '../connection.ts'
import { InvalidAnswerError } from '../errors.ts'
import { beginAttempts } from '../http/retry.ts'
import type { EventPage } from '../wire.ts'
import { vanishedBefore } from '../sync/plan.ts'
import type { PagesReading } from '../sync/reading.ts'

/** The most times that the total may fall without progress beyond all earlier pages; after that, going back is useless. */
const maxFalls = 9
/** A fall is believed after this many repeats: a smaller total may come from a node that lags. */
const fallsBelieved = 3

export interface Falls {
  /**
   * What to do with an answer that reports fewer events than the previous one: ask again after a wait, or believe it.
   */
  look(reading: Pick<PagesReading, 'page' | 'available'>, page: EventPage): Promise<'askAgain' | 'goOn'>
  /** A new walk begins. */
  forget(): void
}

export function createFalls(connection: Connection, signal: AbortSignal | undefined): Falls {
  const retry = { ...connection.retry, attempts: maxFalls }
  const attempts = beginAttempts({ ...connection, retry }, signal)
  let furthest = 0
  let falls = 0
  const begin = () => {
    falls = 0
    attempts.renew()
  }
  return {
    async look(reading, page) {
      if (vanishedBefore(reading, page) === 0) {
        if (reading.page > furthest) begin()
        furthest = Math.max(furthest, reading.page)
        return 'goOn'
      }
      falls += 1
      const error = new InvalidAnswerError(
        `The list's availableCount keeps falling, at page ${reading.page} from ${reading.available ?? 0} to ${page.availableCount}: ` +
          'it cannot be read page by page. Do several nodes with different data answer at this address?',
      )
      await attempts.failed(error)
      return falls % fallsBelieved === 0 ? 'goOn' : 'askAgain'
    },
    forget() {
      furthest = 0
      begin()
    },
  }
}
