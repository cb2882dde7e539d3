/**
 * A look whose answer is kept for `keptMs`, for all who ask. Requests that wait for a look get its failure; later requests look again.
 * `clock`: milliseconds since 1970.
 */
export function keptFor<Found>(
  keptMs: number,
  clock: () => number,
  look: (nowMs: number) => Promise<Found>,
): () => Promise<Found> {
  let kept: { readonly atMs: number; readonly found: Promise<Found> } | undefined
  return () => {
    const atMs = clock()
    // A clock that was set back must not keep an answer alive.
    if (kept !== undefined && atMs >= kept.atMs && atMs - kept.atMs < keptMs) return kept.found
    const looked = { atMs, found: look(atMs) }
    kept = looked
    looked.found.catch(() => {
      if (kept === looked) kept = undefined
    })
    return looked.found
  }
}
