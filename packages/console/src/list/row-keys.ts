/** The row that a key of the keyboard leads to. */
import type { Shape } from './scale.ts'

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
