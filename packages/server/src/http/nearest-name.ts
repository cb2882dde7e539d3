/** The known name somebody most likely meant: at most a third of its letters away. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  // Nobody mistypes a name into one of this length, and the comparison below is quadratic.
  if (given.length > 40) return undefined
  const ranked = known
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance)
  const [best] = ranked
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.name.length / 3))
    ? best.name
    : undefined
}

/** Levenshtein: letters to insert, remove or replace. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const same = left.charAt(row - 1) === right.charAt(column - 1)
      current.push(
        Math.min(
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (previous[column - 1] ?? 0) + (same ? 0 : 1),
        ),
      )
    }
    previous = current
  }
  return previous[right.length] ?? 0
}
