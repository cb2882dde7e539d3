/** The prices of a property over time, as a line of steps. */
import type { ChartPoint } from '../../parts/chart-scale.ts'
import { oneLine } from '../../words/plain.ts'
import { localText } from '../../words/times.ts'
import type { Version } from './read-version.ts'

export interface PriceStep {
  readonly atMs: number
  /** In pounds, for a letting per month if its frequency is known. Null: no price is shown, or the property is off the market. */
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
    const text = version.kind === 'removed' ? 'off the market' : oneLine(price?.text ?? 'no price', 60)
    const last = steps.at(-1)
    if (last?.amount === amount && last.text === text) continue
    steps.push({ atMs: version.atMs, amount, text })
  }
  return steps.slice(-mostSteps)
}

interface PriceChart {
  readonly points: readonly ChartPoint[]
  /** For the axis: the first day, those between, and now. */
  readonly times: readonly { readonly at: number; readonly text: string }[]
  /** All of it in words, for those who do not see the picture. */
  readonly words: string
}

/** Until now, with a gap where no price is shown. `undefined` if no step has a price. */
export function priceChart(steps: readonly PriceStep[], nowMs: number): PriceChart | undefined {
  const first = steps.findIndex(({ amount }) => amount !== null)
  if (first < 0) return undefined
  const shown = steps.slice(first)
  const fromMs = shown[0]?.atMs ?? nowMs
  // The browser's clock may be slow.
  const untilMs = Math.max(nowMs, shown.at(-1)?.atMs ?? 0, fromMs + 1)
  const share = (ms: number): number => (ms - fromMs) / (untilMs - fromMs)
  return {
    words: priceWords(steps),
    points: shown.map(({ atMs, amount, text }, n) => ({
      from: share(atMs),
      to: share(shown[n + 1]?.atMs ?? untilMs),
      value: amount,
      says: `${text}, since ${localText(atMs, nowMs)}`,
    })),
    times: [0, 0.5, 1].map((at) => ({ at, text: timeAt(fromMs, untilMs, at) })),
  }
}

/** A day, or the time if all of it is within two days. */
function timeAt(fromMs: number, untilMs: number, at: number): string {
  const text = localText(fromMs + at * (untilMs - fromMs), untilMs)
  return untilMs - fromMs < 2 * 86_400_000 ? text.slice(0, -3) : text.slice(0, -9)
}

/** `£310,000, then £295,000, then off the market, then £289,950`. */
function priceWords(steps: readonly PriceStep[]): string {
  const texts = steps.map(({ text }) => text)
  return texts.length <= 12
    ? texts.join(', then ')
    : `${texts[0]}, then ${texts.length - 7} others, then ${texts.slice(-6).join(', then ')}`
}
