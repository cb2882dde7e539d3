/**
 * Sends pages that are too long to be made whole piece by piece. A reader that stops reading then holds a piece and not a page, and other
 * work gets a turn between two pieces. The text is the same as that of a page that is made whole.
 */
import type { LocatedPage, PageRange } from '../list.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import { GzipMember, memberStart } from './gzip-member.ts'
import { comma, envelopeEnd, envelopeStart, pieceBytes } from './page-body.ts'
import type { StreamedBody } from './page-body.ts'
import { sumOf } from './page-bytes.ts'
import { wantSealed } from './page-parts.ts'
import type { PageSources, Part } from './page-parts.ts'
import { deflatePiece, eventsPerPiece, eventsPerSegment, pieceSpan } from './segments/segment.ts'
import type { SegmentBytes } from './segments/segment-memory.ts'

/** The length of the page as it is now. Reads no event. */
export async function lengthOfPlain(
  { events, sealed }: PageSources,
  page: LocatedPage,
  parts: readonly Part[],
): Promise<number> {
  const { count } = page.range
  let byteLength = envelopeStart.byteLength + envelopeEnd(page).byteLength + count - 1
  for (const { segment, index, count, range } of parts) {
    const known = sealed?.store.joinedLength(segment, index, count)
    byteLength += known === undefined ? sumOf(await events.measureRange(range)) : known - (count - 1)
  }
  return byteLength
}

/** `byteLength` is the result of `lengthOfPlain`. */
export function streamedPlain(
  sources: PageSources,
  page: LocatedPage,
  parts: readonly Part[],
  byteLength: number,
): StreamedBody {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield envelopeStart
    let isFirst = true
    for (const part of parts) {
      for await (const text of textsOf(sources, part)) {
        if (!isFirst) yield comma
        isFirst = false
        yield text
      }
    }
    yield envelopeEnd(page)
  }
  return { kind: 'streamed', byteLength, pieces }
}

/** One gzip member, as for a page that is made whole. */
export function streamedGzip(sources: PageSources, page: LocatedPage, parts: readonly Part[]): StreamedBody {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const member = new GzipMember(gzipStart)
    let isFirst = true
    const begin = (): void => {
      if (!isFirst) member.addComma()
      isFirst = false
    }
    for (const part of parts) {
      const segment = isWholePieces(part)
        ? sources.sealed?.store.deflated(part.segment, part.count)
        : undefined
      if (segment !== undefined) {
        begin()
        addWholePieces(member, part, segment)
        try {
          yield* member.takePieces()
        } finally {
          segment.release()
        }
        await yieldForStep()
        continue
      }
      for await (const text of textsOf(sources, part)) {
        begin()
        const piece = await deflatePiece(text, hurriedLevel)
        member.addPiece(piece)
        yield* member.takePieces()
        freeBytes(piece.bytes)
      }
    }
    yield* member.end(envelopeEnd(page))
  }
  return { kind: 'streamed', byteLength: undefined, pieces }
}

/** How many events of a long sealed segment are read at a time. */
const eventsAtOnce = 10

/** The events of a part, joined by commas, in texts of about `pieceBytes`. Other work gets a turn after each. */
async function* textsOf(sources: PageSources, part: Part): AsyncGenerator<Uint8Array> {
  const store = sources.sealed?.store
  const length = store?.joinedLength(part.segment, part.index, part.count)
  if (length === undefined) {
    wantSealed(sources, part)
    yield* storedTexts(sources, part.range)
    return
  }
  const step = length <= pieceBytes ? part.count : eventsAtOnce
  for (let from = 0; from < part.count; from += step) {
    const count = Math.min(step, part.count - from)
    const found = store?.joined(part.segment, part.index + from, count)
    if (found === undefined) {
      // The file was emptied meanwhile, or the segment is an old one that is too long.
      yield* storedTexts(sources, { ...part.range, first: part.range.first + from, count })
      continue
    }
    try {
      yield found.bytes
    } finally {
      found.release()
    }
    await yieldForStep()
  }
}

async function* storedTexts({ events }: PageSources, range: PageRange): AsyncGenerator<Uint8Array> {
  const lengths = await events.measureRange(range)
  if (lengths.length !== range.count) throw new Error('events of a page are gone')
  for (const { first, count } of groupsOf(lengths)) {
    const pieces = await events.readRange({ ...range, first: range.first + first, count })
    const text = pieces.length === 1 ? pieces[0] : undefined
    if (text === undefined) throw new Error('events of a page are gone')
    try {
      yield text
    } finally {
      freeBytes(text)
    }
    await yieldForStep()
  }
}

/** At most as many events as the engines read in one piece. */
const mostEvents = 100

/** Runs of events that have `pieceBytes` together, or are one event. */
function* groupsOf(
  lengths: readonly number[],
): Generator<{ readonly first: number; readonly count: number }> {
  let first = 0
  let bytes = 0
  for (const [index, length] of lengths.entries()) {
    const count = index - first
    if (count > 0 && (bytes + length > pieceBytes || count === mostEvents)) {
      yield { first, count }
      first = index
      bytes = 0
    }
    bytes += length
  }
  if (lengths.length > first) yield { first, count: lengths.length - first }
}

/** The level of compression while a client waits: 1.9 ms for 365 kB. Level 6 takes 3.5 ms and saves a fifth more. */
export const hurriedLevel = 1

export const gzipStart = memberStart(envelopeStart)

export function isWholePieces({ index, count }: Pick<Part, 'index' | 'count'>): boolean {
  return index % eventsPerPiece === 0 && count % eventsPerPiece === 0
}

/** Adds deflated pieces as they are, from the first event of one to the last of another. */
export function addWholePieces(
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
