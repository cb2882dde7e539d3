/** Joins what was noted about consumers to what is stored: the rules that every engine shares. */
import { mostRanges, refusalPauseMs } from './consumer-store.ts'
import type { ConsumerRefusal, ConsumerResult, NotedReading } from './consumer-store.ts'
import type { NumberRange } from './number-ranges.ts'

/** The first range, which shows what was sent without a gap, and the highest ones. */
export function keptRanges(ranges: readonly NumberRange[]): readonly NumberRange[] {
  const [first] = ranges
  if (first === undefined || ranges.length <= mostRanges) return ranges
  return [first, ...ranges.slice(1 - mostRanges)]
}

/** What a reading adds to what was ever sent, in no order: nothing for events that were read one by one. */
export function addedRanges({ view, minutes, earlierRanges = [] }: NotedReading): readonly NumberRange[] {
  return view === 'single' ? [] : [...earlierRanges, ...minutes.flatMap(({ ranges }) => ranges)]
}

export function joinedRefusal(
  before: ConsumerRefusal | undefined,
  refusal: ConsumerRefusal,
): ConsumerRefusal {
  if (before === undefined || refusal.sinceMs - before.lastMs > refusalPauseMs) return refusal
  return {
    ...refusal,
    status: refusal.lastMs >= before.lastMs ? refusal.status : before.status,
    sinceMs: Math.min(before.sinceMs, refusal.sinceMs),
    lastMs: Math.max(before.lastMs, refusal.lastMs),
    count: before.count + refusal.count,
  }
}

/** Whether a result replaces the stored one. */
export function isLater(result: ConsumerResult, kept: ConsumerResult | undefined): boolean {
  if (kept === undefined || result.sequenceNumber > kept.sequenceNumber) return true
  return result.sequenceNumber === kept.sequenceNumber && result.resultMs >= kept.resultMs
}

/** Whether the replacing result is the first report that the version is live. */
export function saysLiveAnew(
  { outcome, sequenceNumber }: ConsumerResult,
  before: Pick<ConsumerResult, 'outcome' | 'sequenceNumber'> | undefined,
): boolean {
  if (outcome !== 'live') return false
  return before === undefined || before.sequenceNumber < sequenceNumber || before.outcome !== 'live'
}
