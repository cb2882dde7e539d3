/** Values that every table can hold: PostgreSQL accepts neither NUL nor half a surrogate pair, and both engines should hold the same. */

/** What a JSON column holds. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue }

/** Control characters except tab and line ends, and those that turn the direction of the text around them. */
// oxlint-disable-next-line no-control-regex -- They are what is taken out.
const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A text for a column of its own. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll(unseen, '')
}

/** The deepest nesting of a value that is kept. Databases have limits of their own, beyond which they refuse the whole batch. */
const maxDepth = 64

/**
 * A value as JSON columns hold it: without NUL characters and halves of surrogate pairs, in names and texts; other characters stay. What needs
 * no change is the same object, not a copy. `undefined`: it is nested more than 64 levels deep.
 */
export function cleanJson(value: JsonValue, depth = 0): JsonValue | undefined {
  if (depth > maxDepth) return undefined
  if (typeof value === 'string') return storable(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value)
  const members = Object.values(value)
  const cleaned: JsonValue[] = []
  for (const member of members) {
    const one = cleanJson(member, depth + 1)
    if (one === undefined) return undefined
    cleaned.push(one)
  }
  const isSame = cleaned.every((one, index) => one === members[index])
  if (Array.isArray(value)) return isSame ? value : cleaned
  const kept = names.map(storable)
  if (isSame && kept.every((name, index) => name === names[index])) return value
  return Object.fromEntries(kept.map((name, index) => [name, cleaned[index] ?? null]))
}
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '')
}
