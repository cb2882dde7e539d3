/**
 * Patience with a total that shrinks while pages are walked. There may be several nodes at one address, and one that lags
 * reports fewer events than the previous answer. A walk that went back each time would never end.
 */
import type { Connection } from '../connection.ts'
import { InvalidAnswerError } from '../errors.ts'
import { beginAttempts } from '../http/retry.ts'
import type { EventPage } from '../wire.ts'

/** The most times that the total may shrink without progress beyond all earlier pages; after that, going back is useless. */
const maxShrinks = 9
/** A smaller total is believed after this many repeats: it may come from a node that lags. */
const shrinksBelieved = 3

/** The page that was asked for, and the total of the answer before it. */
interface PageProgress {
  readonly page: number
  readonly available?: number
}

export interface ShrinkingTotal {
  /**
   * What to do with an answer that reports fewer events than the previous one: ask again after a wait, or believe it.
   */
  judge(reading: PageProgress, page: EventPage): Promise<'askAgain' | 'goOn'>
  /** A new walk begins. */
  reset(): void
}

export function createShrinkingTotal(
  connection: Connection,
  signal: AbortSignal | undefined,
): ShrinkingTotal {
  const retry = { ...connection.retry, attempts: maxShrinks }
  const attempts = beginAttempts({ ...connection, retry }, signal)
  let furthest = 0
  let shrinks = 0
  const begin = () => {
    shrinks = 0
    attempts.renew()
  }
  return {
    async judge(reading, page) {
      if (vanishedBefore(reading, page) === 0) {
        if (reading.page > furthest) begin()
        furthest = Math.max(furthest, reading.page)
        return 'goOn'
      }
      shrinks += 1
      const error = new InvalidAnswerError(
        `The list's availableCount keeps falling, at page ${reading.page} from ${reading.available ?? 0} to ${page.availableCount}: ` +
          'it cannot be read page by page. Do several nodes with different data answer at this address?',
      )
      await attempts.failed(error)
      return shrinks % shrinksBelieved === 0 ? 'goOn' : 'askAgain'
    },
    reset() {
      furthest = 0
      begin()
    },
  }
}

/** How many events fewer the answer reports than the previous one of this walk. */
export function vanishedBefore(reading: PageProgress, page: EventPage): number {
  return reading.page === 1 ? 0 : Math.max(0, (reading.available ?? 0) - page.availableCount)
}
