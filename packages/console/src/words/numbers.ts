/** Numbers as text, the same in every browser. */

/** `1,204,511`. */
export function countText(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** A number that somebody typed or pasted: `6,214`, `6 214`, `#6214`. `undefined` for anything else, and for 0. */
export function readCount(typed: string): number | undefined {
  const text = typed
    .trim()
    .replace(/^#/, '')
    .replaceAll(/[,\s\u00A0\u202F]/g, '')
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined
  const count = Number(text)
  return Number.isSafeInteger(count) ? count : undefined
}

/** `1 event`, `2 events`. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${countText(count)} ${count === 1 ? noun : nouns}`
}
