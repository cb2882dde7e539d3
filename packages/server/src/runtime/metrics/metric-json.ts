/** Metrics as values, in the form that prom-client writes. */

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
