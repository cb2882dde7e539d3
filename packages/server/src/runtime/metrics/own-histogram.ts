/**
 * A histogram with one label or none, for what each publication passes several times. It is our own for the reason that
 * `request-metrics.ts` names: prom-client builds a text from the labels with every call.
 */
interface OwnHistogramOptions {
  readonly name: string
  readonly help: string
  /** Ascending, without infinity. */
  readonly bounds: readonly number[]
  /** The name of the label. Left out: there is one series, shown from the start. */
  readonly label?: string
}

export interface Series {
  /** `counts[i]`: how many values were at most bound i and more than the bound before it. The last: more than all bounds. */
  readonly counts: number[]
  sum: number
}

export function emptySeries(bounds: readonly number[]): Series {
  return { counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
}

/** Adds a value. */
export function addTo(series: Series, bounds: readonly number[], value: number): void {
  const bucket = bucketOf(bounds, value)
  series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
  series.sum += value
}

export function ownHistogram({ name, help, bounds, label }: OwnHistogramOptions) {
  const series = new Map<string, Series>()
  if (label === undefined) series.set('', emptySeries(bounds))
  return {
    /** `of`: the value of the label. */
    observe(value: number, of = ''): void {
      let one = series.get(of)
      if (one === undefined) series.set(of, (one = emptySeries(bounds)))
      addTo(one, bounds, value)
    },
    json(): MetricJson {
      const values: MetricSample[] = []
      for (const [of, { counts, sum }] of series) {
        const labels = label === undefined ? {} : { [label]: of }
        values.push(...histogramSamples({ name, bounds, counts, sum, labels }))
      }
      return { name, help, type: 'histogram', aggregator: 'sum', values }
    },
  }
}

/** Samples of metrics, in the form in which prom-client gives its own. */
interface HistogramSeries extends Series {
  readonly name: string
  readonly bounds: readonly number[]
  readonly labels: MetricSample['labels']
}

/** The series of a histogram in Prometheus' form: each bucket includes those before it. */
export function histogramSamples({
  name,
  bounds,
  counts,
  sum,
  labels,
}: HistogramSeries): readonly MetricSample[] {
  let sofar = 0
  const buckets = counts.map((count, index): MetricSample => {
    sofar += count
    return { metricName: `${name}_bucket`, labels: { le: bounds[index] ?? '+Inf', ...labels }, value: sofar }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: sofar },
  ]
}

/** The place of a duration in `counts`. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1
  return bucket
}

export interface MetricJson {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** How prom-client would combine several sources. There is one, so this changes nothing, but prom-client asks for it. */
  readonly aggregator: 'sum' | 'max'
  readonly values: readonly MetricSample[]
}

export interface MetricSample {
  /** The name, if it is not the metric's own, as for the parts of a histogram. */
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}
