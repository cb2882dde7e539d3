/** Samples of metrics, in the form in which prom-client gives its own. */
/** `counts[i]`: how many values were at most bound i and more than the bound before it. The last: more than all bounds. */
interface HistogramSeries {
  readonly name: string
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
  readonly sum: number
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
