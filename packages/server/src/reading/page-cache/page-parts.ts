/** The parts of a page, segment by segment, and the sources that they are read from. */
import type { LocatedPage, PageRange } from '../list.ts'
import { lengthOf } from './page-bytes.ts'
import { segmentRange } from './segments/sealer.ts'
import type { Sealer } from './segments/sealer.ts'
import { eventsPerSegment } from './segments/segment.ts'
import type { SegmentId } from './segments/segment-id.ts'
import type { SegmentStore } from './segments/segment-store.ts'
import { represent } from '../representation/representation.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { EventStore, Head } from '../../events/event-log.ts'

export interface SealedPages {
  readonly store: SegmentStore
  readonly sealer: Sealer
}

export interface PageSources {
  readonly events: PageReads
  /** Without it, every page comes from the engine. */
  readonly sealed: SealedPages | undefined
  readonly beginMaking: AssemblyBudget
}

/** A part of a page: some or all events of one segment. */
export interface Part {
  readonly segment: SegmentId
  readonly range: PageRange
  /** Of the page. */
  readonly head: Head
  /** The first event of the part in the segment, counted from 0. */
  readonly index: number
  readonly count: number
}

/** `series`: the segments of the page's feed and view, in the feed's present state. */
export function partsOf(
  { range, head }: Pick<LocatedPage, 'range' | 'head'>,
  series: string,
): readonly Part[] {
  const parts: Part[] = []
  const end = range.first - 1 + range.count
  for (let at = range.first - 1; at < end;) {
    const number = Math.floor(at / eventsPerSegment)
    const index = at - number * eventsPerSegment
    const count = Math.min(eventsPerSegment - index, end - at)
    parts.push({ segment: { series, number }, index, count, range: { ...range, first: at + 1, count }, head })
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
  const range = { ...part.range, head: part.head }
  return part.count > fewEvents ? events.readRangeWithin(range, maxBytes) : events.readRange(range)
}

export function wantSealed({ sealed }: PageSources, { segment, range }: Part): void {
  sealed?.sealer.want({ segment, range: segmentRange(range, segment.number) })
}

/** What pages need from a store. */
export type RangeReads = Pick<EventStore, 'readRange' | 'readRangeWithin' | 'measureRange'>

/** The same for ranges with a form. */
interface PageReads extends RangeReads {
  readRange(range: PageRange): Promise<readonly Uint8Array[]>
  readRangeWithin(range: PageRange, maxBytes: number): Promise<readonly Uint8Array[] | undefined>
  measureRange(range: PageRange): Promise<readonly number[]>
}

export function pageReads(events: RangeReads): PageReads {
  const readRange = (range: PageRange) => seen(events.readRange(range), range)
  return {
    readRange,
    // Judged by the stored lengths, which the shown events exceed by a few letters at most.
    readRangeWithin: (range, maxBytes) => seen(events.readRangeWithin(range, maxBytes), range),
    measureRange: (range) =>
      range.form?.narrow === undefined ? events.measureRange(range) : measured(events, range),
  }
}

/** The bytes belong to the reader, so they can be changed in place. */
function seen<Pieces extends readonly Uint8Array[] | undefined>(
  reading: Promise<Pieces>,
  { form }: PageRange,
): Promise<Pieces | readonly Uint8Array[]> {
  if (form === undefined) return reading
  return reading.then((pieces) => {
    if (pieces === undefined || pieces.length === 0) return pieces
    const [first] = pieces
    if (first !== undefined && pieces.length === 1) return [represent(first, form)]
    const joined = Buffer.concat(pieces)
    pieces.forEach(freeBytes)
    return [represent(joined, form)]
  })
}

/** Only the events themselves tell the length of events that are made shorter. */
async function measured(events: RangeReads, range: PageRange): Promise<readonly number[]> {
  const lengths: number[] = []
  for (let n = 0; n < range.count; n += 1) {
    const pieces = await seen(events.readRange({ ...range, first: range.first + n, count: 1 }), range)
    if (pieces.length > 0) lengths.push(lengthOf(pieces))
    pieces.forEach(freeBytes)
  }
  return lengths
}

/**
 * Counts the bytes of pages that are being made whole, which no key's share has counted yet: 200 requests of one key for cold pages of 8
 * MiB would take 1.6 GB while they are made. They count as bytes in flight of the node. A page that finds no room is sent in pieces.
 */
type AssemblyBudget = () => PageAssembly

interface PageAssembly {
  /** Counts bytes that were read. False: all pages that are being made take more than they may. */
  take(bytes: number): boolean
  /** Releases some of them. */
  free(bytes: number): void
  /** The page is made, or will not be made whole. */
  end(): void
}

/**
 * Counts bytes in what a node holds altogether; a negative number takes them off it again. `own`: what the page holds now. False: the node
 * has no room for such pages.
 */
export type CountBytes = (bytes: number, own: number) => boolean

/** Eight of the longest pages, or 140 of the usual ones. */
const mostBytes = 64 * 2 ** 20

/** `count`: left out, the pages of one reader alone are limited. */
export function createAssemblyBudget(count: CountBytes = () => true): AssemblyBudget {
  let held = 0
  return () => {
    let own = 0
    const add = (bytes: number): boolean => {
      own += bytes
      held += bytes
      return count(bytes, own)
    }
    return {
      take(bytes) {
        const hasRoom = add(bytes)
        return hasRoom && held <= mostBytes
      },
      free: (bytes) => void add(-bytes),
      end: () => void add(-own),
    }
  }
}
