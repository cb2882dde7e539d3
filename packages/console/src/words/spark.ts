/** The heights of bars for counts: the greatest has the full height, and zero appears as a line. */
export function sparkBars(counts: readonly number[], height: number): readonly number[] {
  const most = Math.max(...counts, 1)
  return counts.map((count) => (count === 0 ? 1 : Math.max(2, Math.round((count / most) * height))))
}
