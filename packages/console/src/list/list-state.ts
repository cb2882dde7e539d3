/** The position of a list, as signals. The list draws it, and its bar moves it. */
import { signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import { isAtEnd, lastPosition, positionAround, positionToSee, scrolled, scrollStateAt } from './scale.ts'
import type { Shape, ScrollState } from './scale.ts'

export interface ListState {
  readonly scroll: Signal<ScrollState>
  readonly viewHeight: Signal<number>
  /** The row with the keyboard focus. */
  readonly active: Signal<number>
  /** In pixels, as the style says. */
  readonly rowHeight: Signal<number>
  /** Whether the newest row is visible and stays visible while the list grows. */
  readonly isFollowing: Signal<boolean>
  shape(rowCount: number): Shape
  /** Reports the position of the scroller. */
  scrolledTo(rowCount: number, top: number): void
  /** Moves only as far as needed to show a row. */
  see(rowCount: number, row: number): void
  /** Puts a row in the middle and gives it the keyboard focus. */
  goTo(rowCount: number, row: number): void
  /** Moves to the last row, and stays there while the list grows. */
  follow(rowCount: number): void
  /** The list has grown, or its height has changed. */
  settle(rowCount: number): void
}

export function createListState(): ListState {
  const scroll = signal<ScrollState>({ position: 0, top: 0 })
  const viewHeight = signal(0)
  const rowHeight = signal(36)
  const active = signal(0)
  const isFollowing = signal(false)

  function shape(rowCount: number): Shape {
    return { rowCount, rowHeight: rowHeight.value, viewHeight: viewHeight.value }
  }
  function move(rowCount: number, position: number): void {
    const of = shape(rowCount)
    scroll.value = scrollStateAt(of, position)
    isFollowing.value = isAtEnd(of, scroll.value.position)
  }
  return {
    scroll,
    viewHeight,
    active,
    isFollowing,
    rowHeight,
    shape,
    scrolledTo(rowCount, top) {
      const of = shape(rowCount)
      // What the list itself has set comes back here.
      if (Math.abs(top - scroll.peek().top) < 1) return
      scroll.value = scrolled(of, scroll.peek(), top)
      isFollowing.value = isAtEnd(of, scroll.value.position)
    },
    see(rowCount, row) {
      active.value = row
      move(rowCount, positionToSee(shape(rowCount), scroll.peek().position, row))
    },
    goTo(rowCount, row) {
      active.value = row
      move(rowCount, positionAround(shape(rowCount), row))
    },
    follow(rowCount) {
      active.value = Math.max(0, rowCount - 1)
      scroll.value = scrollStateAt(shape(rowCount), lastPosition(shape(rowCount)))
      isFollowing.value = true
    },
    settle(rowCount) {
      const of = shape(rowCount)
      scroll.value = scrollStateAt(of, isFollowing.peek() ? lastPosition(of) : scroll.peek().position)
    },
  }
}
