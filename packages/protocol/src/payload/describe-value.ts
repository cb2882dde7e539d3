/** The most characters of a value that a message repeats. */
const maxShownCharacters = 100

/** Characters that reorder, hide or break text on a screen, which `JSON.stringify` leaves as they are. */
const unprintable = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g

/**
 * A value as a message shows it: simple values as JSON, cut to 100 characters, with invisible characters escaped; of
 * objects and arrays only the kind. The work does not depend on the value's size.
 */
export function showValue(value: unknown): string {
  if (typeof value !== 'string') return isSimple(value) ? String(value) : nameKind(value)
  const shown = JSON.stringify(value.slice(0, maxShownCharacters)).replaceAll(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return value.length > maxShownCharacters ? `${shown} and ${value.length - maxShownCharacters} more` : shown
}

/** The kind of a value without any of its content, for messages about personal data. */
export function nameKind(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'string') return `a string of ${value.length} characters`
  if (typeof value === 'boolean') return 'a boolean'
  if (typeof value !== 'number') return 'an object'
  return Number.isInteger(value) ? 'an integer' : 'a number with a fraction'
}

function isSimple(value: unknown): value is number | boolean | null {
  return value === null || typeof value === 'number' || typeof value === 'boolean'
}
