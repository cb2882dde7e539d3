/** The requests of a key, day by day, with refused ones in another colour. */
import type { KeyUsage } from '@property-events/protocol/wire'
import { now } from '../../state/clock.ts'
import { usageBars, usageDays, usageWords } from './usage.ts'

const box = { width: 120, height: 20 }

/** A day's count can be half a minute old, so that the bars change only with the day. */
export function UsageBars({ usage }: { readonly usage: KeyUsage | undefined }) {
  if (usage === undefined) return <span class="quiet">…</span>
  if (usage.items.length === 0) return <span class="quiet">no requests</span>
  const days = usageDays(usage.items, now.value)
  return (
    <svg class="usage" viewBox={`0 0 ${box.width} ${box.height}`} role="img" aria-label={usageWords(days)}>
      <line x2={box.width} y1={box.height} y2={box.height} />
      {usageBars(days, box).map(({ day, x, y, width, height, refusedHeight }) => (
        <g key={day.day}>
          <rect x={x} y={y} width={width} height={height} />
          {refusedHeight > 0 && (
            <rect class="refused" x={x} y={box.height - refusedHeight} width={width} height={refusedHeight} />
          )}
        </g>
      ))}
    </svg>
  )
}
