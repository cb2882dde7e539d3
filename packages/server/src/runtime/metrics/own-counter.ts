/** A counter with one label or two, for what each publication passes. It is our own for the reason that `request-durations.ts` names. */
import type { MetricJson, MetricSample } from './metric-json.ts'

export interface OwnCounterOptions {
  readonly name: string
  readonly help: string
  readonly labels: readonly [string] | readonly [string, string]
}

export interface OwnCounter {
  /** `first`, `second`: the values of the labels. */
  add(count: number, first: string, second?: string): void
  json(): MetricJson
}

export function ownCounter({ name, help, labels: [firstLabel, secondLabel] }: OwnCounterOptions): OwnCounter {
  const counts = new Map<string, Map<string, number>>()
  return {
    add(count, first, second = '') {
      let ofFirst = counts.get(first)
      if (ofFirst === undefined) counts.set(first, (ofFirst = new Map()))
      ofFirst.set(second, (ofFirst.get(second) ?? 0) + count)
    },
    json() {
      const values: MetricSample[] = []
      for (const [first, ofFirst] of counts) {
        for (const [second, value] of ofFirst) {
          const more = secondLabel === undefined ? {} : { [secondLabel]: second }
          values.push({ labels: { [firstLabel]: first, ...more }, value })
        }
      }
      return { name, help, type: 'counter', aggregator: 'sum', values }
    },
  }
}
