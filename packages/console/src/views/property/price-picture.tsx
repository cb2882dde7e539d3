/** The prices of a property over time. */
import { now } from '../../state/clock.ts'
import { utcText } from '../../words/times.ts'
import { priceChart } from './price-steps.ts'
import type { PriceStep } from './price-steps.ts'

const box = { width: 320, height: 72 }
/** Room for the marks at the edges. */
const edge = 6

export function PricePicture({ steps }: { readonly steps: readonly PriceStep[] }) {
  // The line grows by the minute, so that it is not redrawn every second.
  const minuteMs = Math.ceil(now.value / 60_000) * 60_000
  const chart = priceChart(steps, { ...box, untilMs: minuteMs })
  if (chart === undefined) return <p class="quiet">No version has a price that is shown.</p>
  const view = `${-edge} ${-edge} ${box.width + 2 * edge} ${box.height + 2 * edge}`
  return (
    <figure class="prices">
      <svg viewBox={view} role="img" aria-label={`Prices: ${chart.words}`}>
        <path d={chart.path} />
        {chart.marks.map(({ x, y, step }) => (
          <circle key={step.atMs} cx={x} cy={y} r="3.5">
            <title>{`${step.text}, ${utcText(step.atMs)}`}</title>
          </circle>
        ))}
      </svg>
      <figcaption>{chart.words}</figcaption>
    </figure>
  )
}
