/**
 * The candidate that was most likely meant: at most a third of its letters differ, or as many as `atMost` says. The
 * nearest one, and of equally near ones the first; `undefined` when none is near. Upper and lower case are the same.
 */
export function nearestName(
  written: string,
  candidates: readonly string[],
  atMost: (candidate: string) => number = aThird,
): string | undefined {
  // No name of this length is a typing error, and the cost of the comparison is the product of the lengths.
  if (written.length > 100) return undefined
  const lower = written.toLowerCase()
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const limit = Math.min(atMost(candidate), bestDistance - 1)
    // Each letter of difference in length is one to insert or to leave out.
    if (Math.abs(candidate.length - written.length) > limit) continue
    const distance = levenshtein(lower, candidate.toLowerCase())
    if (distance > limit) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

function aThird(candidate: string): number {
  return Math.max(1, Math.floor(candidate.length / 3))
}

/** Letters to insert, leave out or change to get from one text to the other. */
function levenshtein(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const change = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(change, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
