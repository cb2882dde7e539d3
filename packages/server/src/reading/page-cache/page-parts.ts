/** The parts of a page, segment by segment, and the sources that they are read from. */
import type { LocatedPage, PageRange } from '../list.ts'
import type { AssemblyBudget } from './assembly-budget.ts'
import type { PageReads } from './page-reads.ts'
import { segmentRange } from './segments/sealer.ts'
import type { Sealer } from './segments/sealer.ts'
import { eventsPerSegment } from './segments/segment.ts'
import type { SegmentId } from './segments/segment-id.ts'
import type { SegmentStore } from './segments/segment-store.ts'

export interface SealedPages {
  readonly store: SegmentStore
  readonly sealer: Sealer
}

export interface PageSources {
  readonly events: PageReads
  /** Without it, every page comes from the engine. */
  readonly sealed: SealedPages | undefined
  readonly making: AssemblyBudget
}

/** A part of a page: some or all events of one segment. */
export interface Part {
  readonly segment: SegmentId
  readonly range: PageRange
  /** The first event of the part in the segment, counted from 0. */
  readonly index: number
  readonly count: number
}

/** `series`: the segments of the page's feed and view, in the feed's present state. */
export function partsOf({ range }: Pick<LocatedPage, 'range'>, series: string): readonly Part[] {
  const parts: Part[] = []
  const end = range.first - 1 + range.count
  for (let at = range.first - 1; at < end;) {
    const number = Math.floor(at / eventsPerSegment)
    const index = at - number * eventsPerSegment
    const count = Math.min(eventsPerSegment - index, end - at)
    parts.push({ segment: { series, number }, index, count, range: { ...range, first: at + 1, count } })
    at += count
  }
  return parts
}

/** This few events are never too long to be read at once. */
const fewEvents = 4

/**
 * Reads a part from the engine and asks for its segment to be sealed, for the next time. `undefined`: the part has more than `maxBytes`,
 * and was not read.
 */
export function readUnsealed(
  sources: PageSources,
  part: Part,
  maxBytes: number,
): Promise<readonly Uint8Array[] | undefined> {
  const { events } = sources
  wantSealed(sources, part)
  return part.count > fewEvents ? events.readRangeWithin(part.range, maxBytes) : events.readRange(part.range)
}

export function wantSealed({ sealed }: PageSources, { segment, range }: Part): void {
  sealed?.sealer.want({ segment, range: segmentRange(range, segment.number) })
}
