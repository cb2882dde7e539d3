/**
 * The arithmetic of a list that is longer than a browser can scroll. An element ends at some 16.7 million pixels, so the scroller is at
 * most 8 million high. In a longer list the wheel moves by pixels, and the bar by share: half-way down is the middle of the list.
 */

export interface Shape {
  readonly rowCount: number
  /** Sizes of a row and of the visible part, in pixels. */
  readonly rowHeight: number
  readonly viewHeight: number
}

/** The position of a list. `position`: the pixels of the whole list above the visible part. `top`: what the scroller reports. */
export interface ScrollState {
  readonly position: number
  readonly top: number
}

export const longestScroll = 8_000_000
/**
 * Scrolling further than this comes from the bar. A pixel of the bar is thousands of pixels of a long list, a turn of the wheel some
 * hundred.
 */
const longestTurn = 2_000
/** The most rows in the page. */
export const mostRows = 60

/** The height of the scrolled element. */
export function scrollHeightOf(shape: Shape): number {
  return Math.min(longestScroll, shape.rowCount * shape.rowHeight)
}

/** The last position: the last row is at the lower edge. */
export function lastPosition({ rowCount, rowHeight, viewHeight }: Shape): number {
  return Math.max(0, rowCount * rowHeight - viewHeight)
}

function lastTop(shape: Shape): number {
  return Math.max(0, scrollHeightOf(shape) - shape.viewHeight)
}

function isScaled({ rowCount, rowHeight }: Shape): boolean {
  return rowCount * rowHeight > longestScroll
}

/** Where the scroller has to be for a position. */
export function topOf(shape: Shape, position: number): number {
  if (!isScaled(shape)) return Math.min(position, lastTop(shape))
  return Math.round((position / lastPosition(shape)) * lastTop(shape))
}

/** The position of a list after its scroller moved to `top`. */
export function scrolled(shape: Shape, before: ScrollState, top: number): ScrollState {
  if (!isScaled(shape)) return { position: clamped(shape, top), top }
  const turn = top - before.top
  if (Math.abs(turn) <= longestTurn) return { position: clamped(shape, before.position + turn), top }
  return { position: clamped(shape, (top / lastTop(shape)) * lastPosition(shape)), top }
}

/** A position, with the scroller where it belongs. */
export function scrollStateAt(shape: Shape, position: number): ScrollState {
  const at = clamped(shape, position)
  return { position: at, top: topOf(shape, at) }
}

/** The smallest move after which a row is completely visible. */
export function positionToSee(shape: Shape, position: number, row: number): number {
  const above = row * shape.rowHeight
  const below = above + shape.rowHeight - shape.viewHeight
  if (above < position) return above
  return below > position ? below : clamped(shape, position)
}

/** The position at which a row is in the middle. */
export function positionAround({ rowHeight, viewHeight }: Shape, row: number): number {
  return row * rowHeight - (viewHeight - rowHeight) / 2
}

/** Whether the end is visible: then a live list follows it. */
export function isAtEnd(shape: Shape, position: number): boolean {
  return position >= lastPosition(shape) - 1
}

function clamped(shape: Shape, position: number): number {
  return Math.min(Math.max(0, position), lastPosition(shape))
}

/** The first and last row in the page, counted from 0. `last` < `first` if there is none. */
export interface Rows {
  readonly first: number
  readonly last: number
}

/** The visible rows, including partly visible ones. */
export function rowsSeen({ rowCount, rowHeight, viewHeight }: Shape, position: number): Rows {
  const first = Math.floor(position / rowHeight)
  return { first, last: Math.min(rowCount - 1, Math.ceil((position + viewHeight) / rowHeight) - 1) }
}

/** These and some around them, so that the next turn of the wheel shows no gap. */
export function rowsInPage(shape: Shape, position: number): Rows {
  const seen = rowsSeen(shape, position)
  const spare = Math.max(0, Math.min(8, Math.floor((mostRows - (seen.last - seen.first + 1)) / 2)))
  const first = Math.max(0, seen.first - spare)
  return { first, last: Math.min(shape.rowCount - 1, seen.last + spare, first + mostRows - 1) }
}

/** The row that a key of the keyboard leads to. */
interface PressedKey {
  readonly key: string
  readonly ctrlKey: boolean
  readonly altKey: boolean
  readonly metaKey: boolean
}

/** `undefined`: this key does not move the list. */
export function rowAfterKey(pressed: PressedKey, row: number, shape: Shape): number | undefined {
  if (pressed.altKey || pressed.ctrlKey || pressed.metaKey || shape.rowCount === 0) return undefined
  const screen = Math.max(1, Math.floor(shape.viewHeight / shape.rowHeight) - 1)
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: screen,
    PageUp: -screen,
    Home: -shape.rowCount,
    End: shape.rowCount,
  }
  const step = Object.hasOwn(steps, pressed.key) ? steps[pressed.key] : undefined
  return step === undefined ? undefined : Math.min(shape.rowCount - 1, Math.max(0, row + step))
}
