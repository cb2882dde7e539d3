/**
 * Page bodies, plain or gzipped, with as little work as the page allows: what lies in sealed segments is taken from
 * there, what does not (the newest events, a store read for the first time) is read from the engine. Both ways give the
 * same text.
 */
import type { LocatedPage } from '../feed/list.ts'
import { freeBytes } from '../free-bytes.ts'
import type { EventStore, FeedKey, Head, ViewRange } from '../storage/storage.ts'
import { GzipMember, memberStart } from './gzip-member.ts'
import type { DeflatedPiece } from './gzip-member.ts'
import { bodyOf, giveBack, ownBytes } from './held-bytes.ts'
import type { Held } from './held-bytes.ts'
import { comma, envelopeEnd, envelopeStart } from './page-body.ts'
import { createFeedSeries } from './feed-series.ts'
import type { ContentCoding, PageBody } from './page-body.ts'
import { segmentRange } from './sealer.ts'
import type { Sealer } from './sealer.ts'
import { deflatePiece, eventsPerPiece, eventsPerSegment, pieceSpan } from './segment.ts'
import type { SegmentId } from './segment-id.ts'
import type { SegmentBytes } from './segment-memory.ts'
import type { SegmentStore } from './segment-store.ts'

export interface PageReader {
  /** At once where all of the page lies in sealed segments: no answer of these waits for another's. */
  read(page: LocatedPage, coding: ContentCoding): PageBody | Promise<PageBody>
  /** The bytes of the event at a position, if its segment is sealed; to be released like a page. */
  readSealedEvent(key: FeedKey, head: Head, position: number): PageBody | undefined
  close(): Promise<void>
}

/** A part of a page: some or all events of one segment. */
interface Part {
  readonly segment: SegmentId
  readonly range: ViewRange
  /** First event of the part in the segment, from 0. */
  readonly index: number
  readonly count: number
}

/** What is deflated while somebody waits: 1.9 ms for 365 kB, where level 6 takes 3.5 ms for a fifth less. */
const hurriedLevel = 1

const gzipStart = memberStart(envelopeStart)

export interface SealedPages {
  readonly store: SegmentStore
  readonly sealer: Sealer
}

/** Without `sealed`, every page comes from the engine. */
export function createPageReader(
  events: Pick<EventStore, 'readRange'>,
  sealed: SealedPages | undefined,
): PageReader {
  const feedSeries = createFeedSeries(() => {
    sealed?.sealer.forgetAll()
    sealed?.store.clear()
  })
  sealed?.store.watch(feedSeries)

  function partsOf({ range, head }: LocatedPage): readonly Part[] {
    const series = feedSeries.of(range.key, head, range.view)
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

  /** Reads a part from the engine and asks for its segment, for the next time. */
  function readUnsealed(part: Part): Promise<readonly Uint8Array[]> {
    const { segment, range } = part
    sealed?.sealer.want({ segment, range: segmentRange(range, segment.number) })
    return events.readRange(range)
  }

  /** The page, if all of it is sealed. */
  function sealedPlain(page: LocatedPage, parts: readonly Part[]): PageBody | undefined {
    if (sealed === undefined) return undefined
    const pieces: Uint8Array[] = [envelopeStart]
    const held: SegmentBytes[] = []
    for (const { segment, index, count } of parts) {
      const found = sealed.store.joined(segment, index, count)
      if (found === undefined) return giveBack(held)
      if (held.length > 0) pieces.push(comma)
      held.push(found)
      pieces.push(found.bytes)
    }
    pieces.push(envelopeEnd(page))
    return bodyOf(pieces, held)
  }

  /** The page, if it can be put together from deflated pieces as they are. */
  function sealedGzip(page: LocatedPage, parts: readonly Part[]): PageBody | undefined {
    if (sealed === undefined || !parts.every(isWholePieces)) return undefined
    const member = new GzipMember(gzipStart)
    const held: SegmentBytes[] = []
    for (const part of parts) {
      const segment = sealed.store.deflated(part.segment, part.count)
      if (segment === undefined) return giveBack(held)
      if (held.length > 0) member.addComma()
      held.push(segment)
      addWholePieces(member, part, segment)
    }
    return bodyOf(member.end(envelopeEnd(page)), held)
  }

  async function readPlain(page: LocatedPage, parts: readonly Part[]): Promise<PageBody> {
    const pieces: Uint8Array[] = [envelopeStart]
    const held: Held[] = []
    try {
      for (const part of parts) {
        if (pieces.length > 1) pieces.push(comma)
        const segment = sealed?.store.joined(part.segment, part.index, part.count)
        if (segment === undefined) {
          const read = await readUnsealed(part)
          held.push(ownBytes(read))
          pieces.push(...read)
        } else {
          held.push(segment)
          pieces.push(segment.bytes)
        }
      }
    } catch (error) {
      giveBack(held)
      throw error
    }
    pieces.push(envelopeEnd(page))
    return bodyOf(pieces, held)
  }

  async function readGzip(page: LocatedPage, parts: readonly Part[]): Promise<PageBody> {
    const member = new GzipMember(gzipStart)
    const held: Held[] = []
    try {
      for (const [place, part] of parts.entries()) {
        if (place > 0) member.addComma()
        const segment = sealed?.store.deflated(part.segment, part.count)
        if (segment === undefined) {
          member.addPiece(await deflateRead(await readUnsealed(part), held))
        } else {
          held.push(segment)
          await addSegment(member, part, segment, held)
        }
      }
    } catch (error) {
      giveBack(held)
      throw error
    }
    return bodyOf(member.end(envelopeEnd(page)), held)
  }

  /** Adds a part of a sealed segment: whole pieces as they are, the events at its ends deflated for the occasion. */
  async function addSegment(
    member: GzipMember,
    part: Part,
    segment: SegmentBytes,
    held: Held[],
  ): Promise<void> {
    const { index, count } = part
    if (isWholePieces(part)) {
      addWholePieces(member, part, segment)
      return
    }
    let at = index
    while (at < index + count) {
      if (at > index) member.addComma()
      const piece = Math.floor(at / eventsPerPiece)
      const upTo = Math.min((piece + 1) * eventsPerPiece, index + count)
      const inPiece = { index: at, count: upTo - at }
      if (isWholePieces(inPiece)) addWholePieces(member, inPiece, segment)
      else member.addPiece(await deflateEvents(part, at, upTo - at, held))
      at = upTo
    }
  }

  async function deflateEvents(
    part: Part,
    index: number,
    count: number,
    held: Held[],
  ): Promise<DeflatedPiece> {
    const segment = sealed?.store.joined(part.segment, index, count)
    if (segment === undefined) {
      const first = part.segment.number * eventsPerSegment + index + 1
      return deflateRead(await events.readRange({ ...part.range, first, count }), held)
    }
    try {
      return await deflateHurriedly(segment.bytes, held)
    } finally {
      segment.release()
    }
  }

  return {
    read(page, coding) {
      const parts = partsOf(page)
      if (coding === 'gzip') return sealedGzip(page, parts) ?? readGzip(page, parts)
      return sealedPlain(page, parts) ?? readPlain(page, parts)
    },
    readSealedEvent(key, head, position) {
      const series = feedSeries.of(key, head, 'all')
      const number = Math.floor((position - 1) / eventsPerSegment)
      const found = sealed?.store.event({ series, number }, position - 1 - number * eventsPerSegment)
      return found && { pieces: [found.bytes], byteLength: found.bytes.byteLength, release: found.release }
    },
    async close() {
      sealed?.sealer.forgetAll()
      await sealed?.sealer.idle()
      sealed?.store.close()
    },
  }
}

function isWholePieces({ index, count }: Pick<Part, 'index' | 'count'>): boolean {
  return index % eventsPerPiece === 0 && count % eventsPerPiece === 0
}

/** Adds deflated pieces as they are, from the first event of one to the last of another. */
function addWholePieces(
  member: GzipMember,
  { index, count }: Pick<Part, 'index' | 'count'>,
  segment: SegmentBytes,
): void {
  if (count === eventsPerSegment) {
    member.addPiece({ ...segment.facts.whole, bytes: segment.bytes })
    return
  }
  const table = segment.facts.table()
  const end = (index + count) / eventsPerPiece
  for (let piece = index / eventsPerPiece; piece < end; piece += 1) {
    if (piece > index / eventsPerPiece) member.addComma()
    const { from, to, ...text } = pieceSpan(table, piece)
    member.addPiece({ ...text, bytes: segment.bytes.subarray(from, to) })
  }
}

async function deflateRead(pieces: readonly Uint8Array[], held: Held[]): Promise<DeflatedPiece> {
  const joined = Buffer.concat(pieces)
  pieces.forEach(freeBytes)
  try {
    return await deflateHurriedly(joined, held)
  } finally {
    freeBytes(joined)
  }
}

async function deflateHurriedly(text: Uint8Array, held: Held[]): Promise<DeflatedPiece> {
  const piece = await deflatePiece(text, hurriedLevel)
  held.push(ownBytes([piece.bytes]))
  return piece
}
