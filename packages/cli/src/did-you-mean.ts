/** The candidate that was most likely meant: at most a third of its letters differ. `undefined` when none is near. */
export function nearest(written: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const distance = levenshtein(written.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance && distance <= Math.max(1, Math.floor(candidate.length / 3))) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** ` Did you mean X?`, or nothing. */
export function didYouMean(written: string, candidates: readonly string[]): string {
  const meant = nearest(written, candidates)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}

/** Letters to insert, leave out or change to get from `a` to `b`. Texts are cut at 100 letters: the work is a product. */
function levenshtein(a: string, b: string): number {
  const [from, to] = [a.slice(0, 100), b.slice(0, 100)]
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
