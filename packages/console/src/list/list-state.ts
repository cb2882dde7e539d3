/** Where a list stands, as signals: the list draws it, its bar moves it. */
import { signal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import { isAtEnd, lastPosition, positionAround, positionToSee, scrolled, standAt } from './scale.ts'
import type { Shape, Stand } from './scale.ts'

export interface ListState {
  readonly stand: Signal<Stand>
  readonly viewHeight: Signal<number>
  /** The row that the keyboard is at. */
  readonly active: Signal<number>
  /** In pixels, as the style says. */
  readonly rowHeight: Signal<number>
  /** Whether the newest row is seen and stays so while the list grows. */
  readonly isFollowing: Signal<boolean>
  shape(rowCount: number): Shape
  /** The scroller says where it is. */
  scrolledTo(rowCount: number, top: number): void
  /** Moves no further than a row needs to be seen. */
  see(rowCount: number, row: number): void
  /** A row stands in the middle, and the keyboard is at it. */
  goTo(rowCount: number, row: number): void
  /** To the last row, and stays there while the list grows. */
  follow(rowCount: number): void
  /** The list has grown, or has another height. */
  settle(rowCount: number): void
}

export function createListState(): ListState {
  const stand = signal<Stand>({ position: 0, top: 0 })
  const viewHeight = signal(0)
  const rowHeight = signal(36)
  const active = signal(0)
  const isFollowing = signal(false)

  function shape(rowCount: number): Shape {
    return { rowCount, rowHeight: rowHeight.value, viewHeight: viewHeight.value }
  }
  function move(rowCount: number, position: number): void {
    const of = shape(rowCount)
    stand.value = standAt(of, position)
    isFollowing.value = isAtEnd(of, stand.value.position)
  }
  return {
    stand,
    viewHeight,
    active,
    isFollowing,
    rowHeight,
    shape,
    scrolledTo(rowCount, top) {
      const of = shape(rowCount)
      // What the list itself has set comes back here.
      if (Math.abs(top - stand.peek().top) < 1) return
      stand.value = scrolled(of, stand.peek(), top)
      isFollowing.value = isAtEnd(of, stand.value.position)
    },
    see(rowCount, row) {
      active.value = row
      move(rowCount, positionToSee(shape(rowCount), stand.peek().position, row))
    },
    goTo(rowCount, row) {
      active.value = row
      move(rowCount, positionAround(shape(rowCount), row))
    },
    follow(rowCount) {
      active.value = Math.max(0, rowCount - 1)
      stand.value = standAt(shape(rowCount), lastPosition(shape(rowCount)))
      isFollowing.value = true
    },
    settle(rowCount) {
      const of = shape(rowCount)
      stand.value = standAt(of, isFollowing.peek() ? lastPosition(of) : stand.peek().position)
    },
  }
}
