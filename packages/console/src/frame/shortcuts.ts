/** The keyboard shortcuts and what they do. The help lists them. */

interface Shortcut {
  readonly keys: string
  readonly does: string
}

export const shortcuts: readonly Shortcut[] = [
  { keys: '/ or Ctrl K', does: 'find anything' },
  { keys: '?', does: 'this list' },
  { keys: 'Esc', does: 'close what is open' },
  { keys: '↑ ↓', does: 'in a list: previous row, next row' },
  { keys: 'Page Up, Page Down', does: 'in a list: a screen up, a screen down' },
  { keys: 'Home, End', does: 'in a list: the oldest, the newest' },
  { keys: 'Enter', does: 'in a list: open the row' },
]

/** As in a keyboard event. */
interface PressedKey {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

/** What a pressed key asks of the frame. `isTyping`: the focus is in a field. */
export function frameAction(
  { key, ctrlKey, metaKey, altKey }: PressedKey,
  isTyping: boolean,
): 'find' | 'help' | undefined {
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') return 'find'
  if (isTyping || ctrlKey || metaKey || altKey) return undefined
  if (key === '/') return 'find'
  return key === '?' ? 'help' : undefined
}
