/** No name of this length is a typing error, and the cost of the comparison is the product of the lengths. */
export const longestWritten = 100

/**
 * The candidate that was most likely meant: at most a third of its letters differ, or as many as `atMost` says. It is the nearest one, or
 * the first of several that are equally near; `undefined` if none is near. Upper and lower case are the same.
 */
export function nearestName(
  written: string,
  candidates: readonly string[],
  atMost: (candidate: string) => number = aThird,
): string | undefined {
  if (written.length > longestWritten) return undefined
  const lower = written.toLowerCase()
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const limit = Math.min(atMost(candidate), bestDistance - 1)
    // Each letter of difference in length has to be inserted or left out.
    if (Math.abs(candidate.length - written.length) > limit || candidate.length > longestName) continue
    const distance = levenshtein(lower, candidate.toLowerCase(), limit)
    if (distance === undefined) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

function aThird(candidate: string): number {
  return Math.max(1, Math.floor(candidate.length / 3))
}

/**
 * The letters to insert, leave out or change to get from one text to the other; `undefined`: more than the limit. Cells further from the
 * diagonal than the limit cannot be on the way, so with a limit of 8 a path of 80 letters costs a fifth of the whole table.
 */
function levenshtein(from: string, to: string, limit: number): number | undefined {
  const most = Math.floor(limit)
  if (most < 0) return undefined
  const tooFar = most + 1
  let previous = rowOne
  let current = rowTwo
  for (let column = 0; column <= to.length; column += 1) previous[column] = Math.min(column, tooFar)
  for (let row = 1; row <= from.length; row += 1) {
    const first = Math.max(1, row - most)
    const last = Math.min(to.length, row + most)
    current[first - 1] = first === 1 ? Math.min(row, tooFar) : tooFar
    let least = current[first - 1] ?? tooFar
    const letter = from.charCodeAt(row - 1)
    for (let column = first; column <= last; column += 1) {
      const change = (previous[column - 1] ?? tooFar) + (letter === to.charCodeAt(column - 1) ? 0 : 1)
      const distance = Math.min(
        change,
        (previous[column] ?? tooFar) + 1,
        (current[column - 1] ?? tooFar) + 1,
        tooFar,
      )
      current[column] = distance
      least = Math.min(least, distance)
    }
    if (last < to.length) current[last + 1] = tooFar
    if (least > most) return undefined
    ;[previous, current] = [current, previous]
  }
  const distance = previous[to.length] ?? tooFar
  return distance > most ? undefined : distance
}

/** Rows of the table, reused for every comparison. A candidate with more letters than this cannot be what was meant. */
const longestName = 400
const rowOne = new Uint16Array(longestName + 1)
const rowTwo = new Uint16Array(longestName + 1)
