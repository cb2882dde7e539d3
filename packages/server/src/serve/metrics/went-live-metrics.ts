/** How long it takes until a site reports that it shows what was published (PROTOCOL §14.5), by consumer, for those that report most. */
import { bucketOf, histogramSamples } from '../../runtime/metrics/own-histogram.ts'
import type { CountsByName, TopMetric } from '../../runtime/metrics/top-counter.ts'
import { topMetric } from '../../runtime/metrics/top-counter.ts'

/** In seconds: from a site that follows the feed to one that imports every few days. */
const bounds = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 86_400, 259_200]
/** For each consumer: a count for each bucket, and the sum of the seconds. */
const numbersEach = bounds.length + 2
const sumAt = numbersEach - 1
/** Sites report little and seldom, so those of the last days count. */
const halfLifeMs = 86_400_000
/** Until the next scrape. */
const consumersAtMost = 2_000

export function countWentLive() {
  let names = new Map<string, number[]>()
  let others = nothing()
  return {
    add(keyId: string, consumer: string, seconds: number): void {
      const name = consumer === 'default' ? keyId : `${keyId}/${consumer}`
      let own = names.get(name)
      if (own === undefined) {
        own = names.size < consumersAtMost ? nothing() : others
        if (own !== others) names.set(name, own)
      }
      const bucket = bucketOf(bounds, seconds)
      own[bucket] = (own[bucket] ?? 0) + 1
      own[sumAt] = (own[sumAt] ?? 0) + seconds
    },
    /** The counts since the last call. */
    take(): CountsByName {
      const totals = { names: [...names], others }
      names = new Map()
      others = nothing()
      return totals
    },
  }
}

function nothing(): number[] {
  return Array.from({ length: numbersEach }, () => 0)
}

/** `clock`: milliseconds, never set back. */
export function topWentLive(clock?: () => number): TopMetric {
  const countOf = (counts: readonly number[]): number =>
    counts.slice(0, sumAt).reduce((sum, count) => sum + count, 0)
  return topMetric({ weightOf: countOf, halfLifeMs, clock }, (shown) => {
    const name = 'property_events_publish_to_live_seconds'
    const help =
      'Time from the commit of an event until a site said that it shows it, by the 20 consumers that say most; the others together.'
    const values = shown.flatMap(([consumer, own]) => {
      const counts = Array.from({ length: sumAt }, (_, index) => own[index] ?? 0)
      return histogramSamples({ name, bounds, counts, sum: own[sumAt] ?? 0, labels: { consumer } })
    })
    return { name, help, type: 'histogram', aggregator: 'sum', values }
  })
}
