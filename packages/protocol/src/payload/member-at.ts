/** The member at a path of names, or `undefined` where the path leaves the objects. Inherited members do not count. */
export function memberAt(value: unknown, path: readonly string[]): unknown {
  let current = value
  for (const name of path) {
    if (!isRecord(current) || !Object.hasOwn(current, name)) return undefined
    current = current[name]
  }
  return current
}

/** A JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
