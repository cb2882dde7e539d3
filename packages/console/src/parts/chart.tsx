/** Bars, or a line of steps, with axes. Whoever points at a part of it reads what it is. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { pointAt, scaleOf } from './chart-scale.ts'
import type { ChartPoint, Scale } from './chart-scale.ts'
import './chart.css'

interface Props {
  readonly kind: 'bars' | 'steps'
  readonly points: readonly ChartPoint[]
  /** All of it in words, for those who do not see it. */
  readonly words: string
  /** Of a value at the axis. */
  readonly textOf: (value: number) => string
  /** Below the chart, at shares of the width. */
  readonly times: readonly { readonly at: number; readonly text: string }[]
}

const height = 170
const margin = { top: 10, right: 12, bottom: 22 }

export function Chart({ kind, points, words, textOf, times }: Props) {
  const figure = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(600)
  const [pointed, point] = useState<ChartPoint>()
  useLayoutEffect(() => {
    const { current } = figure
    if (current === null) return undefined
    const observer = new ResizeObserver(() => setWidth(Math.max(200, current.clientWidth)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  const scale = scaleOf(points, kind === 'bars')
  const left = 10 + 7 * Math.max(...scale.ticks.map((tick) => textOf(tick).length))
  const inner = width - left - margin.right
  const x = (share: number): number => left + share * inner
  const y = yOf(scale)
  function follow({ offsetX }: PointerEvent): void {
    point(pointAt(points, (offsetX - left) / inner))
  }
  return (
    <figure class="chart" ref={figure}>
      <svg
        role="img"
        aria-label={words}
        width={width}
        height={height}
        onPointerMove={follow}
        onPointerDown={follow}
        onPointerLeave={() => point(undefined)}
      >
        <Axes scale={scale} textOf={textOf} times={times} x={x} y={y} />
        {kind === 'bars' ? (
          <Bars points={points} pointed={pointed} x={x} y={y} />
        ) : (
          <path class="steps" d={stepPath(points, x, y)} />
        )}
        {kind === 'steps' && pointed !== undefined && pointed.value !== null && (
          <circle cx={x(pointed.from)} cy={y(pointed.value)} r="4" />
        )}
      </svg>
      {pointed !== undefined && (
        <figcaption
          class={pointed.from > 0.5 ? 'at-left' : ''}
          style={{ left: `${x((pointed.from + Math.min(pointed.to, 1)) / 2)}px` }}
        >
          {pointed.says}
        </figcaption>
      )}
    </figure>
  )
}

function yOf({ low, high }: Scale): (value: number) => number {
  const tall = height - margin.top - margin.bottom
  return (value) => margin.top + tall * (1 - (value - low) / (high - low))
}

interface Drawn {
  readonly x: (share: number) => number
  readonly y: (value: number) => number
}

function Axes({ scale, textOf, times, x, y }: Drawn & Pick<Props, 'textOf' | 'times'> & { scale: Scale }) {
  return (
    <>
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line x1={x(0)} x2={x(1)} y1={y(tick)} y2={y(tick)} />
          <text x={x(0) - 6} y={y(tick) + 4} text-anchor="end">
            {textOf(tick)}
          </text>
        </g>
      ))}
      {times.map(({ at, text }) => (
        <text
          key={at}
          x={x(at)}
          y={height - 6}
          text-anchor={at === 0 ? 'start' : at === 1 ? 'end' : 'middle'}
        >
          {text}
        </text>
      ))}
    </>
  )
}

interface BarsProps extends Drawn {
  readonly points: readonly ChartPoint[]
  readonly pointed: ChartPoint | undefined
}

function Bars({ points, pointed, x, y }: BarsProps) {
  return points.map((point) => {
    const { from, to, value, bad = 0 } = point
    const bar = (part: number) => {
      // A single request is visible.
      const tall = part === 0 ? 0 : Math.max(2, y(0) - y(part))
      return { x: x(from) + 1, width: Math.max(1, x(to) - x(from) - 2), y: y(0) - tall, height: tall }
    }
    return (
      <g key={from} class={point === pointed ? 'pointed' : undefined}>
        <rect {...bar(value ?? 0)} />
        {bad > 0 && <rect class="bad" {...bar(bad)} />}
      </g>
    )
  })
}

function stepPath(points: readonly ChartPoint[], x: Drawn['x'], y: Drawn['y']): string {
  return points
    .map(({ from, to, value }, n) => {
      if (value === null) return ''
      const before = points[n - 1]?.value ?? null
      return `${before === null ? `M${x(from)} ${y(value)}` : `V${y(value)}`}H${x(to)}`
    })
    .join('')
}
