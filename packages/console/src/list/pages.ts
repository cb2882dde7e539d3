/** The pages of the contract's list that the console holds, and which ones to ask for. */
import type { Rows } from './scale.ts'

/** The contract's page, as far as the list needs it. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly availableCount: number
}

export const pageSize = 100
/** Pages that are held: 4,000 rows. */
const mostPages = 40

export interface HeldPages<Item> {
  /** All events of the view, as the newest answer says; `undefined` before the first. */
  readonly total: number | undefined
  item(row: number): Item | undefined
  /** Pages of those rows that have to be asked for: the least pages that are not held whole. */
  missing(rows: Rows): readonly number[]
  /** The tag of a page that is held: 304 where it has not changed. */
  etagOf(page: number): string | undefined
  take(page: number, answer: Page<Item>, etag: string | undefined): void
  /** The feed has as many events now: the last page may have grown. */
  grow(total: number): void
}

interface Held<Item> {
  readonly items: readonly Item[]
  readonly etag: string | undefined
}

/** Pages count from 1, rows from 0. A full page never changes (PROTOCOL §3.2), so it is asked for once as long as it is held. */
export function createHeldPages<Item>(): HeldPages<Item> {
  // In the order of their last use: the first one goes first.
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

/** The page of a row. */
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
