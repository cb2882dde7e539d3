/** The differences between two versions of a payload, as lines that a person can read. */

export type PayloadChange =
  | { readonly kind: 'added' | 'removed'; readonly path: string; readonly value: string }
  | { readonly kind: 'changed'; readonly path: string; readonly before: string; readonly value: string }

/**
 * Paths are written as `details.features[2]`; values as JSON. In the order of the newer payload, then the removed ones.
 */
export function payloadChanges(before: unknown, after: unknown): readonly PayloadChange[] {
  const [old, current] = [new Map(leavesOf(before, '')), new Map(leavesOf(after, ''))]
  const changes: PayloadChange[] = []
  for (const [path, value] of current) {
    const previous = old.get(path)
    if (previous === undefined) changes.push({ kind: 'added', path, value })
    else if (previous !== value) changes.push({ kind: 'changed', path, before: previous, value })
  }
  for (const [path, value] of old) if (!current.has(path)) changes.push({ kind: 'removed', path, value })
  return changes
}

/** Every value that has no members of its own; an empty object or list is one. */
function leavesOf(value: unknown, path: string): readonly (readonly [string, string])[] {
  const members = Array.isArray(value)
    ? value.map((item: unknown, index) => [`${path}[${index}]`, item] as const)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).map(([name, item]) => [path === '' ? name : `${path}.${name}`, item] as const)
      : []
  if (members.length === 0) return [[path, JSON.stringify(value) ?? 'null']]
  return members.flatMap(([inner, item]) => leavesOf(item, inner))
}
