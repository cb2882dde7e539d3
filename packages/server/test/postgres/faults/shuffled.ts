/** The same things in random order. */
export function shuffled<T>(things: readonly T[]): readonly T[] {
  return things
    .map((thing) => ({ thing, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ thing }) => thing)
}
