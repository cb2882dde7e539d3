/** Whether the pages of one walk fit together: each continues the one before it, and together they have what the totals say. */
import { otherAnswer } from './answer-checks.ts'
import type { EventPage, FeedEvent } from '../wire.ts'

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
    `The list says that it has ${total} events, and its pages did not show ${missing} of them: some pages came twice, or are old.`,
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
