/** The pages of the contract's list that the console holds, and which ones to request. */
import type { Rows } from './scale.ts'

/** The contract's page, as far as the list needs it. */
interface Page<Item> {
  readonly items: readonly Item[]
  readonly availableCount: number
}

export const pageSize = 100
/** The most pages to hold: 4,000 rows. */
const mostPages = 40

interface HeldPages<Item> {
  /** The number of all events of the view, according to the newest answer; `undefined` before the first. */
  readonly total: number | undefined
  item(row: number): Item | undefined
  /** The pages to request for these rows: as few pages as possible among those that are not completely held. */
  missing(rows: Rows): readonly number[]
  /** The tag of a held page, for a 304 if it has not changed. */
  etagOf(page: number): string | undefined
  take(page: number, answer: Page<Item>, etag: string | undefined): void
  /** The feed now has this many events, so the last page may have grown. */
  grow(total: number): void
}

interface Held<Item> {
  readonly items: readonly Item[]
  readonly etag: string | undefined
}

/** Pages count from 1, rows from 0. A full page never changes (PROTOCOL §3.2), so it is requested once as long as it is held. */
export function createHeldPages<Item>(): HeldPages<Item> {
  // In the order of their last use: the first is dropped first.
  const held = new Map<number, Held<Item>>()
  let total: number | undefined

  function isWhole(page: number): boolean {
    const expected = Math.min(pageSize, (total ?? 0) - (page - 1) * pageSize)
    return (held.get(page)?.items.length ?? -1) >= expected
  }

  return {
    get total() {
      return total
    },
    item(row) {
      return held.get(pageOf(row))?.items[row % pageSize]
    },
    missing({ first, last }) {
      if (total === undefined) return [1]
      const pages: number[] = []
      const lastPage = last < first ? 0 : pageOf(last)
      for (let page = pageOf(first); page <= lastPage; page += 1) {
        const is = held.get(page)
        if (!isWhole(page)) pages.push(page)
        if (is === undefined) continue
        held.delete(page)
        held.set(page, is)
      }
      return pages
    },
    etagOf: (page) => held.get(page)?.etag,
    take(page, { items, availableCount }, etag) {
      // Answers can overtake each other, and a feed never shrinks.
      total = Math.max(total ?? 0, availableCount)
      held.delete(page)
      held.set(page, { items, etag })
      for (const oldest of held.keys()) {
        if (held.size <= mostPages) break
        held.delete(oldest)
      }
    },
    grow(now) {
      total = Math.max(total ?? 0, now)
    },
  }
}

/** The page that contains a row. */
export function pageOf(row: number): number {
  return Math.floor(row / pageSize) + 1
}

/** The first row of a page. */
export function rowOfPage(page: number): number {
  return (page - 1) * pageSize
}

export function pageCount(total: number): number {
  return Math.ceil(total / pageSize)
}
