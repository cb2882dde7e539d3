/** The agencies of the list together: their numbers, and what was published hour by hour. */
import type { ComponentChildren } from 'preact'
import { Chart } from '../../parts/chart.tsx'
import { NumberTiles } from '../../parts/number-tiles.tsx'
import type { Tenants, TenantActivity } from '@property-events/protocol/wire'
import { now } from '../../state/clock.ts'
import { counted, countText } from '../../words/numbers.ts'
import { hourPoints, hourTimes, publishedByHour, sumOf } from './activity-sums.ts'

interface Props {
  /** Between the numbers and the chart. */
  readonly children: ComponentChildren
  readonly list: Tenants
  readonly facts: ReadonlyMap<string, TenantActivity>
  /** How many faults there are. */
  readonly faults: number
}

const hourMs = 3_600_000

export function Activity({ children, list: { items, next }, facts, faults }: Props) {
  const shown = items.flatMap(({ tenantId }) => facts.get(tenantId) ?? [])
  const byHour = publishedByHour(shown)
  const isWhole = shown.length === items.length
  const number = (sum: number): string => (isWhole ? countText(sum) : '…')
  const events = byHour.reduce((sum, count) => sum + count, 0)
  const points = hourPoints(byHour, Math.floor(now.value / hourMs) * hourMs)
  return (
    <section class="activity" aria-label="Activity">
      <NumberTiles
        tiles={[
          { name: next === null ? 'Agencies' : 'Agencies shown', value: countText(items.length) },
          { name: 'Needs attention', value: countText(faults), isBad: faults > 0 },
          { name: 'Properties listed', value: number(sumOf(shown, 'live')) },
          { name: 'Events in 24 hours', value: number(events) },
          { name: 'Refused requests', value: number(sumOf(shown, 'refused')) },
        ]}
      />
      {children}
      <h2>Events published in each of the last 24 hours</h2>
      <Chart
        kind="bars"
        points={points}
        words={`${counted(events, 'event')} in 24 hours`}
        textOf={countText}
        times={hourTimes(points)}
      />
    </section>
  )
}
