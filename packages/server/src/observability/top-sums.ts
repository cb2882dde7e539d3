/**
 * Sums of a few numbers by name, for the names that count most, and those of all others together: however many tenants, keys or
 * consumers there are, there are never more than that.
 */
import type { CountsByName } from './named-counts.ts'

export interface TopSums {
  /** Adds what was counted since the last time. */
  add(counts: CountsByName): void
  /** By name, and last those of all others, as `other`. */
  shown(): readonly (readonly [name: string, sums: readonly number[]])[]
}

export interface TopSumsOptions {
  /** How much a name counts. */
  readonly weightOf: (counts: readonly number[]) => number
  /** 5 minutes by default. */
  readonly halfLifeMs?: number
  /** Milliseconds, never set back. */
  readonly clock?: (() => number) | undefined
}

/** Names of their own. */
export const namesShown = 20
/** Who counts most is judged by the last while: what is older than this counts half. */
const usualHalfLifeMs = 300_000
/** A name stays until another counts so much more: each change begins a new series in Prometheus. */
const staysFor = 1.25
/** Names that are remembered and not shown. */
const rememberedAtMost = 40_000

/**
 * What is counted is added once: to the sums of its name, if that is shown at the time, else to `other`. So no sum ever falls, and a
 * rate is right at any time; a name that is no longer shown takes its sums away, and one that comes back begins at 0.
 *
 * A name that is shown and counts no longer stays until another one needs its place: what counts seldom would come and go.
 */
export function topSums({
  weightOf,
  halfLifeMs = usualHalfLifeMs,
  clock = () => performance.now(),
}: TopSumsOptions): TopSums {
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
    shown: () => [...shown, ['other', other]],
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
