/** Counts by tenant or key, collected where requests are answered and emptied at each scrape. */

export interface CountsByName {
  /** A few numbers for each name that was counted since the last call. */
  readonly names: readonly (readonly [name: string, counts: readonly number[]])[]
  /** The numbers of all names for which there was no room. */
  readonly others: readonly number[]
}

interface NamedCounts {
  /** Adds to the numbers of a name. It makes only one look-up, because it runs for each read. */
  add(name: string, first: number, second: number): void
  /** What was counted since the last call. */
  take(): CountsByName
}

interface Counts {
  first: number
  second: number
}

function listOf({ first, second }: Counts): readonly number[] {
  return [first, second]
}

/** Twice the number of tenants that one database is made for. Each takes some 100 bytes until the next scrape. */
const namesAtMost = 20_000

export function namedCounts(most: number = namesAtMost): NamedCounts {
  let counts = new Map<string, Counts>()
  let others: Counts = { first: 0, second: 0 }
  return {
    add(name, first, second) {
      let own = counts.get(name)
      if (own === undefined) {
        own = counts.size < most ? { first: 0, second: 0 } : others
        if (own !== others) counts.set(name, own)
      }
      own.first += first
      own.second += second
    },
    take() {
      const names = Array.from(counts, ([name, own]) => [name, listOf(own)] as const)
      const taken = { names, others: listOf(others) }
      counts = new Map()
      others = { first: 0, second: 0 }
      return taken
    },
  }
}
