/** Whether the pages of one walk fit together: each continues the one before it, and together they have what the totals say. */
import { otherAnswer } from './answer-checks.ts'
import type { EventPage, FeedEvent } from '../wire.ts'
import type { Connection } from '../connection.ts'
import { countText, InvalidAnswerError } from '../errors.ts'
import { beginAttempts } from '../http/retry.ts'

/** So many neighbours in order show that a server orders its events by number; by chance that does not happen. */
const convincing = 20

interface WalkCheck {
  /** Throws `InvalidAnswerError` when the page cannot follow the page before it. Changes nothing. */
  check(page: EventPage): void
  /** The events of a page have been read. */
  add(page: EventPage): void
  /** Events that were read out of turn, such as those of the last page. */
  addEvents(events: readonly FeedEvent[]): void
  /**
   * How many events of `total` no page has shown, given the walk's last page. Places that pages left empty do not count: some servers
   * leave out events after they have made their pages.
   */
  missing(total: number, last: EventPage): number
  /** The same pages are walked once more. */
  restart(): void
}

/** A walk that begins at a later page relies on an earlier one for the pages before. */
export function createWalkCheck(firstPage = 1): WalkCheck {
  const seen = new Set<string>()
  const holes = new Map<number, number>()
  let before: EventPage | undefined
  let base: number | undefined
  let order: Order = { rising: 0, falling: 0 }
  return {
    check(page) {
      if (before === undefined) return
      if (page.pageSize !== before.pageSize) {
        throw otherAnswer(
          `Page ${page.page} has pageSize ${page.pageSize}, and page ${before.page} had pageSize ${before.pageSize}.`,
        )
      }
      if (page.page !== before.page + 1) return
      const sign = signOf(addOrder(order, page.items))
      const last = before.items.at(-1)?.sequenceNumber
      if (sign === 0 || last === undefined) return
      const repeated = page.items.filter(({ sequenceNumber }) => sign * (sequenceNumber - last) <= 0)
      // Events that appeared on earlier pages meanwhile have moved as many to this one.
      if (repeated.length <= Math.max(0, page.availableCount - before.availableCount)) return
      throw otherAnswer(
        `The answer for page ${page.page} does not continue page ${before.page}, which ended with number ${last}: it has number ${repeated[0]?.sequenceNumber}.`,
      )
    },
    add(page) {
      base ??= (firstPage - 1) * page.pageSize
      order = addOrder(order, page.items)
      const expected = Math.min(page.pageSize, page.availableCount - (page.page - 1) * page.pageSize)
      holes.set(page.page, Math.max(0, expected - page.items.length))
      for (const { id } of page.items) seen.add(id)
      before = page
    },
    addEvents(events) {
      for (const { id } of events) seen.add(id)
    },
    missing(total, { page, pageSize, totalPages, availableCount }) {
      const left = [...holes.values()].reduce((sum, count) => sum + count, 0)
      // After two empty pages, the ones between them were not asked for.
      const notAsked = page < totalPages ? Math.max(0, availableCount - page * pageSize) : 0
      return Math.max(0, total - ((base ?? 0) + seen.size + left + notAsked))
    },
    restart() {
      holes.clear()
      base = 0
      before = undefined
    },
  }
}

/** The error for a walk whose pages, also when walked once more, do not hold what their totals say. */
export function incomplete(missing: number, total: number): Error {
  return otherAnswer(
    `The list says that it has ${countText(total)} events, and its pages did not show ${countText(missing)} of them: some pages came twice, or are old.`,
  )
}

/** Neighbours on one page. */
interface Order {
  readonly rising: number
  readonly falling: number
}

function addOrder({ rising, falling }: Order, items: readonly FeedEvent[]): Order {
  let [up, down] = [rising, falling]
  for (const [index, { sequenceNumber }] of items.entries()) {
    const next = items[index + 1]?.sequenceNumber
    if (next === undefined) break
    if (next > sequenceNumber) up += 1
    else down += 1
  }
  return { rising: up, falling: down }
}

function signOf({ rising, falling }: Order): -1 | 0 | 1 {
  if (falling === 0 && rising >= convincing) return 1
  return rising === 0 && falling >= convincing ? -1 : 0
}

/**
 * Patience with a total that shrinks while pages are walked. There may be several nodes at one address, and one that lags
 * reports fewer events than the previous answer. A walk that went back each time would never end.
 */

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
