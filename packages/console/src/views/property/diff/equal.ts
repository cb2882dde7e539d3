/** Whether two parsed values say the same. Without recursion: a payload can be nested ten thousand deep. */

/** Absent and null are the same, and so are `1` and `1.0`; the order of members does not count. */
export function saysTheSame(one: unknown, other: unknown): boolean {
  const left: (readonly [unknown, unknown])[] = [[one, other]]
  for (let pair = left.pop(); pair !== undefined; pair = left.pop()) {
    const [a, b] = pair
    if (Object.is(a ?? null, b ?? null) || a === b) continue
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) return false
      for (const [index, item] of a.entries()) left.push([item, b[index]])
    } else if (isObject(a) && isObject(b)) {
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
        left.push([own(a, name), own(b, name)])
      }
    } else return false
  }
  return true
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of the object itself, because payloads can have one named `__proto__` or `toString`. */
export function own(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined
}
