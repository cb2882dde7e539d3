/** A gauge that is asked for its values at each scrape. */
import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

interface AskedGauge<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labels?: readonly Label[]
  /** How prom-client would combine several sources; there is one. */
  readonly aggregator?: 'min' | 'max'
}

type Sample<Label extends string> = readonly [labels: Readonly<Partial<Record<Label, string>>>, value: number]

/** `undefined`: no value, as where the engine has none or the store does not answer. */
type Values<Label extends string> = number | readonly Sample<Label>[] | undefined

export function addGauge<Label extends string = never>(
  register: Registry,
  { labels = [], ...metric }: AskedGauge<Label>,
  ask: () => Values<Label> | Promise<Values<Label>>,
): void {
  const gauge = new Gauge<Label>({
    ...metric,
    labelNames: labels,
    registers: [register],
    async collect() {
      const values = await ask()
      gauge.reset()
      if (typeof values === 'number') gauge.set(values)
      else if (labels.length === 0) gauge.remove()
      else for (const [of, value] of values ?? []) gauge.set(of, value)
    },
  })
}
