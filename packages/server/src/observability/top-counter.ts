/**
 * A counter with a label for the names that count most, and `other` for the rest: however many tenants or keys there are, there are
 * never more label values than that.
 */
import type { CountsByName } from './named-counts.ts'
import type { MetricJson, MetricSample } from './metric-json.ts'

export interface TopCounter {
  /** Adds what was counted since the last time. */
  add(counts: CountsByName): void
  json(): MetricJson
}

export interface TopCounterOptions {
  readonly name: string
  readonly help: string
  readonly label: string
  /** Which of the numbers of a name. */
  readonly column: 0 | 1
}

/** Names with a label of their own. */
export const namesShown = 20
/** Who counts most is judged by the last while: what is older than this counts half. */
const halfLifeMs = 300_000
/** A name keeps its label until another counts so much more: each change of labels begins a new series in Prometheus. */
const staysFor = 1.25
/** Names that are remembered without a label. */
const rememberedAtMost = 40_000

/**
 * What is counted is added once: to the series of its name, if that has one at the time, else to `other`. So no series ever falls,
 * and a rate is right at any time; a name that loses its label takes its series away, and one that gets it again begins at 0.
 *
 * `clock`: milliseconds, never set back.
 */
export function topCounter(
  { name, help, label, column }: TopCounterOptions,
  clock: () => number = () => performance.now(),
): TopCounter {
  const scores = new Map<string, number>()
  let shown = new Map<string, number>()
  let other = 0
  let agedMs = clock()

  const age = (): void => {
    const nowMs = clock()
    const factor = 0.5 ** ((nowMs - agedMs) / halfLifeMs)
    agedMs = nowMs
    for (const [key, score] of scores) {
      if (score * factor < 0.5) scores.delete(key)
      else scores.set(key, score * factor)
    }
  }

  return {
    add({ names, others }) {
      age()
      for (const [key, counts] of names) {
        const count = counts[column] ?? 0
        if (count > 0 && (scores.has(key) || scores.size < rememberedAtMost))
          scores.set(key, (scores.get(key) ?? 0) + count)
      }
      const rank = (key: string, score: number) => (shown.has(key) ? score * staysFor : score)
      shown = new Map(highest(scores, rank).map((key) => [key, shown.get(key) ?? 0]))
      for (const [key, counts] of names) {
        const count = counts[column] ?? 0
        const sofar = shown.get(key)
        if (sofar === undefined) other += count
        else shown.set(key, sofar + count)
      }
      other += others[column] ?? 0
    },
    json() {
      const own = [...shown].map(([key, value]): MetricSample => ({ labels: { [label]: key }, value }))
      const values = [...own, { labels: { [label]: 'other' }, value: other }]
      return { name, help, type: 'counter', aggregator: 'sum', values }
    },
  }
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
