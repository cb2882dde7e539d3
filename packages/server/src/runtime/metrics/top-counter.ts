/** A counter with a label for the names that count most, and `other` for the rest (`topMetric`). */
import type { MetricJson } from './own-histogram.ts'

/** A metric of the names that count most. */
export interface TopMetric {
  /** Adds the counts since the last call. */
  add(counts: CountsByName): void
  json(): MetricJson
}

export interface TopCounterOptions {
  readonly name: string
  readonly help: string
  readonly label: string
  /** Which of a name's numbers the metric shows. */
  readonly column: 0 | 1
}

/** `clock`: milliseconds, never set back. */
export function topCounter(
  { name, help, label, column }: TopCounterOptions,
  clock?: () => number,
): TopMetric {
  return topMetric({ weightOf: (counts) => counts[column] ?? 0, clock }, (shown) => {
    const values = shown.map(([key, own]) => ({ labels: { [label]: key }, value: own[column] ?? 0 }))
    return { name, help, type: 'counter', aggregator: 'sum', values }
  })
}

/** By name; the last entry is the sum of all others, as `other`. */
type ShownSums = readonly (readonly [name: string, sums: readonly number[]])[]

interface TopMetricOptions {
  /** The weight of a name. */
  readonly weightOf: (counts: readonly number[]) => number
  /** Default: 5 minutes. */
  readonly halfLifeMs?: number
  /** Milliseconds, never set back. */
  readonly clock?: (() => number) | undefined
}

/** The names that are shown separately. */
export const namesShown = 20
/** Recent counts decide which names count most: a count older than this weighs half. */
const usualHalfLifeMs = 300_000
/** A shown name is replaced only when another one counts this much more, because each change begins a new series in Prometheus. */
const staysFor = 1.25
/** Names that are remembered but not shown. */
const rememberedAtMost = 40_000

/**
 * Each count is added once: to the sums of its name, if that is shown at the time, else to `other`. So no sum ever falls, and a rate is
 * right at any time. A name that is no longer shown takes its sums away, and one that comes back begins at 0. A shown name that no longer
 * counts stays until another one needs its place, because rare names would otherwise come and go.
 */
export function topMetric(
  { weightOf, halfLifeMs = usualHalfLifeMs, clock = () => performance.now() }: TopMetricOptions,
  jsonOf: (shown: ShownSums) => MetricJson,
): TopMetric {
  const scores = new Map<string, number>()
  let shown = new Map<string, readonly number[]>()
  let other: readonly number[] = []
  let agedMs = clock()

  const age = (): void => {
    const nowMs = clock()
    const factor = 0.5 ** ((nowMs - agedMs) / halfLifeMs)
    agedMs = nowMs
    for (const [key, score] of scores) {
      if (score * factor < 0.5 && !shown.has(key)) scores.delete(key)
      else scores.set(key, score * factor)
    }
  }

  return {
    add({ names, others }) {
      age()
      for (const [key, counts] of names) {
        const weight = weightOf(counts)
        if (weight > 0 && (scores.has(key) || scores.size < rememberedAtMost))
          scores.set(key, (scores.get(key) ?? 0) + weight)
      }
      const rank = (key: string, score: number) => (shown.has(key) ? score * staysFor : score)
      shown = new Map(highest(scores, rank).map((key) => [key, shown.get(key) ?? []]))
      for (const [key, counts] of names) {
        const sofar = shown.get(key)
        if (sofar === undefined) other = added(other, counts)
        else shown.set(key, added(sofar, counts))
      }
      other = added(other, others)
    },
    json: () => jsonOf([...shown, ['other', other]]),
  }
}

function added(sums: readonly number[], counts: readonly number[]): readonly number[] {
  const length = Math.max(sums.length, counts.length)
  return Array.from({ length }, (_, index) => (sums[index] ?? 0) + (counts[index] ?? 0))
}

/** The names with the highest ranks, in one pass: sorting 10,000 would hold up the requests of a millisecond. */
function highest(
  scores: ReadonlyMap<string, number>,
  rankOf: (key: string, score: number) => number,
): readonly string[] {
  const top: { readonly key: string; readonly rank: number }[] = []
  for (const [key, score] of scores) {
    const rank = rankOf(key, score)
    if (top.length === namesShown && rank <= (top.at(-1)?.rank ?? 0)) continue
    const place = top.findIndex((one) => rank > one.rank)
    top.splice(place < 0 ? top.length : place, 0, { key, rank })
    if (top.length > namesShown) top.pop()
  }
  return top.map(({ key }) => key)
}

/** Counts by tenant or key, collected where requests are answered and emptied at each scrape. */

export interface CountsByName {
  /** A few numbers for each name that was counted since the last call. */
  readonly names: readonly (readonly [name: string, counts: readonly number[]])[]
  /** The numbers of all names for which there was no room. */
  readonly others: readonly number[]
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

export function namedCounts(most: number = namesAtMost) {
  let counts = new Map<string, Counts>()
  let others: Counts = { first: 0, second: 0 }
  return {
    /** Adds to the numbers of a name. It makes only one look-up, because it runs for each read. */
    add(name: string, first: number, second: number): void {
      let own = counts.get(name)
      if (own === undefined) {
        own = counts.size < most ? { first: 0, second: 0 } : others
        if (own !== others) counts.set(name, own)
      }
      own.first += first
      own.second += second
    },
    /** What was counted since the last call. */
    take(): CountsByName {
      const names = Array.from(counts, ([name, own]) => [name, listOf(own)] as const)
      const totals = { names, others: listOf(others) }
      counts = new Map()
      others = { first: 0, second: 0 }
      return totals
    },
  }
}
