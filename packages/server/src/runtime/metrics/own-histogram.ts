/**
 * A histogram with one label or none, for what each publication passes several times. It is our own for the reason that
 * `request-durations.ts` names: prom-client builds a text from the labels with every call.
 */
import { bucketOf, histogramSamples } from './histogram-samples.ts'
import type { MetricJson, MetricSample } from './histogram-samples.ts'

interface OwnHistogramOptions {
  readonly name: string
  readonly help: string
  /** Ascending, without infinity. */
  readonly bounds: readonly number[]
  /** The name of the label. Left out: there is one series, shown from the start. */
  readonly label?: string
}

interface OwnHistogram {
  /** `of`: the value of the label. */
  observe(value: number, of?: string): void
  json(): MetricJson
}

interface Series {
  readonly counts: number[]
  sum: number
}

export function ownHistogram({ name, help, bounds, label }: OwnHistogramOptions): OwnHistogram {
  const series = new Map<string, Series>()
  const empty = (): Series => ({ counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 })
  if (label === undefined) series.set('', empty())
  return {
    observe(value, of = '') {
      let one = series.get(of)
      if (one === undefined) series.set(of, (one = empty()))
      const bucket = bucketOf(bounds, value)
      one.counts[bucket] = (one.counts[bucket] ?? 0) + 1
      one.sum += value
    },
    json() {
      const values: MetricSample[] = []
      for (const [of, { counts, sum }] of series) {
        const labels = label === undefined ? {} : { [label]: of }
        values.push(...histogramSamples({ name, bounds, counts, sum, labels }))
      }
      return { name, help, type: 'histogram', aggregator: 'sum', values }
    },
  }
}
