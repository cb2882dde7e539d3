/**
 * Patience with a total that falls while pages are walked. Behind one address there may be several nodes, and one that
 * lags tells of fewer events than the answer before: gone back to each time, a walk would never end.
 */
import type { Connection } from '../connection.ts'
import { InvalidAnswerError } from '../errors.ts'
import { beginAttempts } from '../retry.ts'
import type { EventPage } from '../wire.ts'
import { vanishedBefore } from './plan.ts'
import type { PagesReading } from './reading.ts'

/** Falls of the total without a page that is further than all before: then going back leads nowhere. */
const maxFalls = 9
/** After so many, a fall is believed: fewer may come from a node that lags behind the others. */
const fallsBelieved = 3

export interface Falls {
  /** What to do with an answer that tells of fewer events than the one before: ask again, after a wait, or believe it. */
  look(reading: PagesReading, page: EventPage): Promise<'askAgain' | 'goOn'>
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
          'it cannot be walked. Do several nodes that differ answer at this address?',
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
