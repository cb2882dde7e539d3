/** What became of an adversary's requests: how often each outcome came. */
export type Tally = Readonly<Record<string, number>>

export interface Counting {
  readonly counts: Record<string, number>
  add(outcome: string): void
}

export function counting(): Counting {
  const counts: Record<string, number> = {}
  return {
    counts,
    add(outcome) {
      counts[outcome] = (counts[outcome] ?? 0) + 1
    },
  }
}

/** Status codes of answers that are a fault of the service, whoever asked what. */
export function faultyStatuses(tally: Tally): readonly string[] {
  return Object.keys(tally).filter((outcome) => /^5\d\d/.test(outcome) && !/^50[35]/.test(outcome))
}
