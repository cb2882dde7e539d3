/** Counts over time as a row of bars. */
import { sparklineBars } from './chart-scale.ts'
import './chart.css'

interface Props {
  readonly counts: readonly number[]
  /** What the bars show, in words, for those who do not see the picture. */
  readonly label: string
}

const height = 20
const step = 4

export function Sparkline({ counts, label }: Props) {
  return (
    <svg class="sparkline" role="img" aria-label={label} viewBox={`0 0 ${counts.length * step} ${height}`}>
      <title>{label}</title>
      {sparklineBars(counts, height).map((bar, n) => (
        <rect key={n} x={n * step} y={height - bar} width={step - 1} height={bar} />
      ))}
    </svg>
  )
}
