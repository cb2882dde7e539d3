/** Metrics as values, which may go from one thread to another. As prom-client writes and reads them. */

export interface MetricJson {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** How values of several threads become one. */
  readonly aggregator: 'sum' | 'max'
  readonly values: readonly MetricSample[]
}

export interface MetricSample {
  /** Where it is not the metric's own, as for the parts of a histogram. */
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}
