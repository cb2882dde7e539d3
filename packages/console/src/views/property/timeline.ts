/** What became of a property, event by event. */
import type { FeedEvent } from '@property-events/protocol/wire'
import { comparePayloads } from './diff/compare-payloads.ts'
import type { PayloadDifference } from './diff/difference.ts'
import { oneLine, typeName } from '../../words/plain.ts'
import { readVersion } from './read-version.ts'
import type { Version } from './read-version.ts'

export interface TimelineLine {
  readonly event: FeedEvent
  /** Milliseconds since 1970. */
  readonly atMs: number
  /** `Published`, `Updated`, … */
  readonly type: string
  /** What it was, if differences do not say it: `first listed at £310,000`. */
  readonly headline: string | undefined
  readonly change: PayloadDifference
  /** The same payload again, or one that says the same in another form. */
  readonly isUnchanged: boolean
}

const nothing: PayloadDifference = { differences: [], more: 0 }

/** `events`: those of one property, ascending. The newest line comes first. */
export function timelineOf(versions: readonly Version[]): readonly TimelineLine[] {
  const lines: TimelineLine[] = []
  /** The last one that was shown, whether or not it was removed later. */
  let shown: Version | undefined
  let before: Version | undefined
  for (const version of versions) {
    lines.push(lineOf(version, before, shown))
    before = version
    if (version.kind === 'shown') shown = version
    // Something was there before it was reduced, but nobody knows any longer what it said.
    if (version.kind === 'erased' || version.kind === 'thinned') shown = undefined
  }
  return lines.toReversed()
}

export function readVersions(events: readonly FeedEvent[]): readonly Version[] {
  return events.map(readVersion)
}

function lineOf(version: Version, before: Version | undefined, shown: Version | undefined): TimelineLine {
  const { event, atMs } = version
  const line = { event, atMs, type: typeName(event.eventTypeShortCode), change: nothing, isUnchanged: false }
  if (version.kind === 'unreadable') return { ...line, headline: 'its payload is not a JSON object' }
  if (version.kind === 'erased') return { ...line, headline: 'its payload was erased' }
  if (version.kind === 'thinned') {
    return { ...line, headline: 'its payload was removed by retention, as a later version followed' }
  }
  if (version.kind === 'removed') return { ...line, headline: removedWords(version, before) }
  if (shown === undefined) return { ...line, headline: firstWords(version, before) }
  const change = comparePayloads(shown.payload, version.payload)
  const isUnchanged = change.differences.length === 0
  if (before?.kind === 'removed')
    return { ...line, change, headline: `back on the market${priceWords(version)}` }
  const headline = isUnchanged ? sameWords(version, shown) : undefined
  return { ...line, change, isUnchanged, headline }
}

function firstWords(version: Version, before: Version | undefined): string {
  if (before === undefined) return `first listed${priceWords(version)}`
  if (before.kind === 'removed') return `back on the market${priceWords(version)}`
  return 'changes unknown: the previous payload was not kept'
}

function priceWords({ listing }: Version): string {
  const price = listing?.price.text ?? null
  return price === null ? ', without a price' : ` at ${oneLine(price, 100)}`
}

function removedWords(version: Version, before: Version | undefined): string {
  const reason = version.listing?.removalReason ?? null
  const again = before?.kind === 'removed' ? 'taken off the market again' : 'taken off the market'
  return reason === null ? again : `${again}: ${oneLine(reason, 200)}`
}

function sameWords({ event }: Version, shown: Version): string {
  return event.payload === shown.event.payload
    ? 'same payload again'
    : 'same values again, written differently'
}
