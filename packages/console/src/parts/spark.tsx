/** Counts over time as a row of bars. */
import { sparkBars } from '../words/spark.ts'
import './spark.css'

interface Props {
  readonly counts: readonly number[]
  /** What the bars show, in words, for those who do not see the picture. */
  readonly label: string
}

const height = 20
const step = 4

export function Spark({ counts, label }: Props) {
  return (
    <svg class="spark" role="img" aria-label={label} viewBox={`0 0 ${counts.length * step} ${height}`}>
      <title>{label}</title>
      {sparkBars(counts, height).map((bar, n) => (
        <rect key={n} x={n * step} y={height - bar} width={step - 1} height={bar} />
      ))}
    </svg>
  )
}
