/** Runs a feed's appends one after another, in the order of the calls, beside those of other feeds (P1). */

/** Runs it when all earlier runs that name one of these feeds have ended, successfully or not. */
export type InFeedLines = <T>(names: readonly string[], run: () => Promise<T>) => Promise<T>

export function feedLines(): InFeedLines {
  /** The last run of each feed that has not ended. It never rejects. */
  const lastOf = new Map<string, Promise<void>>()
  return (names, run) => {
    const earlier = names.flatMap((name) => lastOf.get(name) ?? [])
    const turn = earlier.length === 0 ? run() : Promise.all(earlier).then(run)
    const ended: Promise<void> = turn.then(
      () => leave(),
      () => leave(),
    )
    const leave = (): void => {
      for (const name of names) if (lastOf.get(name) === ended) lastOf.delete(name)
    }
    for (const name of names) lastOf.set(name, ended)
    return turn
  }
}
