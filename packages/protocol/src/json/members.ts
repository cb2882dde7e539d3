/** Members of JSON that came from elsewhere, or that may be damaged. */

/** A member of a value from `JSON.parse`; `undefined` if it has no member of this name, or is not an object. */
export function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The same where it is a text. */
export function memberText(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
