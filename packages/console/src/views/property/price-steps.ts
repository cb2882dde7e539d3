/** The prices of a property over time, as a line of steps. */
import { oneLine } from '../../words/plain.ts'
import type { Version } from './read-version.ts'

export interface PriceStep {
  readonly atMs: number
  /** In pounds, for a letting per month if its frequency is known. Null: no price is shown, or the property is down. */
  readonly amount: number | null
  /** `£450,000`, `Under offer`, …: in the words of a listing. */
  readonly text: string
}

/** The most steps that a line has room for. The latest ones stay. */
const mostSteps = 200

/** Where the price changed, ascending. Versions without a payload change nothing. */
export function priceSteps(versions: readonly Version[]): readonly PriceStep[] {
  const steps: PriceStep[] = []
  for (const version of versions) {
    if (version.kind !== 'shown' && version.kind !== 'removed') continue
    const price = version.kind === 'removed' ? undefined : version.listing?.price
    const amount = price?.rentPerMonth ?? price?.amount ?? null
    const text = version.kind === 'removed' ? 'down' : oneLine(price?.text ?? 'no price', 60)
    const last = steps.at(-1)
    if (last?.amount === amount && last.text === text) continue
    steps.push({ atMs: version.atMs, amount, text })
  }
  return steps.slice(-mostSteps)
}

export interface PriceChart {
  /** For the `d` of an SVG path in a box of `width` × `height`. Without a price the line has a gap. */
  readonly path: string
  readonly marks: readonly PriceMark[]
  /** All of it in words, for those who do not see the picture. */
  readonly words: string
}

export interface PriceMark {
  readonly x: number
  readonly y: number
  readonly step: PriceStep
}

export interface PriceBox {
  readonly width: number
  readonly height: number
  /** The line ends here: now, in milliseconds. */
  readonly untilMs: number
}

/** `undefined` if no step has a price. */
export function priceChart(steps: readonly PriceStep[], box: PriceBox): PriceChart | undefined {
  const priced = steps.filter((step): step is PriceStep & { readonly amount: number } => step.amount !== null)
  const first = priced[0]
  if (first === undefined) return undefined
  const amounts = priced.map(({ amount }) => amount)
  const low = Math.min(...amounts)
  const high = Math.max(...amounts)
  const fromMs = first.atMs
  // The browser's clock may be slow.
  const untilMs = Math.max(box.untilMs, priced.at(-1)?.atMs ?? 0)
  const spanMs = Math.max(1, untilMs - fromMs)
  const x = (ms: number): number => round((box.width * Math.max(0, ms - fromMs)) / spanMs, box.width)
  const y = (amount: number): number =>
    high === low ? box.height / 2 : round((box.height * (high - amount)) / (high - low), box.height)
  const parts: string[] = []
  const marks: PriceMark[] = []
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1]
    if (step.amount === null) continue
    const place = { x: x(step.atMs), y: y(step.amount) }
    const startsAnew = before === undefined || before.amount === null
    parts.push(startsAnew ? `M${place.x} ${place.y}` : `V${place.y}`)
    parts.push(`H${x(steps[index + 1]?.atMs ?? untilMs)}`)
    marks.push({ ...place, step })
  }
  return { path: parts.join(''), marks, words: priceWords(steps) }
}

function round(value: number, most: number): number {
  return Math.min(most, Math.round(value * 10) / 10)
}

/** `£310,000, then £295,000, then down, then £289,950`. */
export function priceWords(steps: readonly PriceStep[]): string {
  const texts = steps.map(({ text }) => text)
  return texts.length <= 12
    ? texts.join(', then ')
    : `${texts[0]}, then ${texts.length - 7} others, then ${texts.slice(-6).join(', then ')}`
}
