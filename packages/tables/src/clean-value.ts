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
 * A value as JSON columns hold it: without NUL characters and halves of surrogate pairs, in names and texts; other characters stay.
 * `undefined`: it is nested more than 64 levels deep.
 */
export function cleanJson(value: unknown, depth = 0): JsonValue | undefined {
  if (depth > maxDepth) return undefined
  if (typeof value === 'string') return storable(value)
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    const elements = value.map((element: unknown) => cleanJson(element, depth + 1))
    return elements.every((element) => element !== undefined) ? elements : undefined
  }
  const members: [string, JsonValue][] = []
  for (const [name, member] of Object.entries(value)) {
    const cleaned = cleanJson(member, depth + 1)
    if (cleaned === undefined) return undefined
    members.push([storable(name), cleaned])
  }
  return Object.fromEntries(members)
}

function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '')
}
