/** When a site showed a property, by what its consumer has reported. */
import type { ConsumerResult, ResultChange } from './consumer.ts'

export interface LivePeriod {
  /** Milliseconds since 1970; `undefined`: earlier than is recorded. */
  readonly fromMs: number | undefined
  /** `undefined`: nothing else has been reported. */
  readonly untilMs: number | undefined
  readonly url: string | undefined
  /** Of the event that the report was about. */
  readonly sequenceNumber: number
}

/** What one consumer has reported of a property. */
interface Reported {
  /** The log, in its order. */
  readonly changes: readonly ResultChange[]
  /** The last report. */
  readonly latest: ConsumerResult | undefined
  /** Numbers of reports that are about a removal: `live` then says that the property was taken down. */
  readonly removals: ReadonlySet<number>
}

export function livePeriods({ changes, latest, removals }: Reported): readonly LivePeriod[] {
  const periods: LivePeriod[] = []
  for (const [at, { outcome, url, resultMs, sequenceNumber }] of changes.entries()) {
    if (outcome !== 'live' || removals.has(sequenceNumber)) continue
    periods.push({ fromMs: resultMs, untilMs: changes[at + 1]?.resultMs, url, sequenceNumber })
  }
  // Its change is older than the log is kept.
  if (changes.length === 0 && latest?.outcome === 'live' && !removals.has(latest.sequenceNumber)) {
    const { url, sequenceNumber } = latest
    periods.push({ fromMs: undefined, untilMs: undefined, url, sequenceNumber })
  }
  return periods
}

/** Whether a period says something of the terms of an event: it is about this event, or it lasts at some time at which the event was in force. */
export function isOfEvent(
  { fromMs = -Infinity, untilMs = Infinity, sequenceNumber }: LivePeriod,
  event: { readonly sequenceNumber: number; readonly fromMs: number; readonly untilMs: number | undefined },
): boolean {
  return (
    sequenceNumber === event.sequenceNumber ||
    (fromMs < (event.untilMs ?? Infinity) && untilMs > event.fromMs)
  )
}
