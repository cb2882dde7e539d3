/**
 * A page as a gzip member: the deflated pieces of sealed segments as they are, and the rest compressed for the request.
 */
import type { LocatedPage } from '../list.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import { GzipMember } from './gzip-member.ts'
import type { DeflatedPiece } from './gzip-member.ts'
import { addWholePieces, gzipStart, hurriedLevel, isWholePieces, streamedGzip } from './streamed-page.ts'
import { bodyOf, giveBack, lengthOf, ownBytes } from './page-bytes.ts'
import type { PagePart } from './page-bytes.ts'
import { envelopeEnd } from './page-body.ts'
import { wholeBytes } from '../../http/answer-body.ts'
import type { StreamedBody } from './page-body.ts'
import type { PageBody } from '../../http/answer-body.ts'
import { readUnsealed } from './page-parts.ts'
import type { PageSources, Part, SealedPages } from './page-parts.ts'
import { deflatePiece, eventsPerPiece, eventsPerSegment } from './segments/segment.ts'
import type { SegmentBytes } from './segments/segment-memory.ts'

/** The page, if it can be made of deflated pieces as they are. `long`: it can, but it is so long that it has to be streamed. */
export function sealedGzip(
  sealed: SealedPages,
  page: LocatedPage,
  parts: readonly Part[],
): PageBody | 'long' | undefined {
  if (!parts.every(isWholePieces)) return undefined
  const member = new GzipMember(gzipStart)
  const held: SegmentBytes[] = []
  for (const part of parts) {
    const segment = sealed.store.deflated(part.segment, part.count)
    if (segment === undefined) return giveBack(held)
    if (held.length > 0) member.addComma()
    held.push(segment)
    addWholePieces(member, part, segment)
    if (member.byteLength > wholeBytes) {
      giveBack(held)
      return 'long'
    }
  }
  return bodyOf(member.end(envelopeEnd(page)), held)
}

export async function readGzip(
  sources: PageSources,
  page: LocatedPage,
  parts: readonly Part[],
): Promise<PageBody | StreamedBody> {
  return (await readWhole(sources, page, parts)) ?? streamedGzip(sources, page, parts)
}

/** `undefined`: the page is too long to be made whole, or there is no room for it. */
async function readWhole(
  sources: PageSources,
  page: LocatedPage,
  parts: readonly Part[],
): Promise<PageBody | undefined> {
  const member = new GzipMember(gzipStart)
  const held: PagePart[] = []
  const making = sources.beginMaking()
  try {
    for (const [place, part] of parts.entries()) {
      if (place > 0) member.addComma()
      const segment = sources.sealed?.store.deflated(part.segment, part.count)
      if (segment === undefined) {
        const read = await readUnsealed(sources, part, wholeBytes)
        if (read === undefined) return giveBack(held)
        const bytes = lengthOf(read)
        if (!making.take(bytes)) {
          read.forEach(freeBytes)
          return giveBack(held)
        }
        const piece = await deflateRead(read, held)
        making.free(bytes - piece.bytes.byteLength)
        member.addPiece(piece)
      } else {
        held.push(segment)
        await addSegment(sources, member, part, segment, held)
      }
      if (member.byteLength > wholeBytes) return giveBack(held)
    }
  } catch (error) {
    giveBack(held)
    throw error
  } finally {
    making.end()
  }
  return bodyOf(member.end(envelopeEnd(page)), held)
}

/** Adds a part of a sealed segment: whole pieces as they are, and the events at its ends compressed for the request. */
async function addSegment(
  sources: PageSources,
  member: GzipMember,
  part: Part,
  segment: SegmentBytes,
  held: PagePart[],
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
    else member.addPiece(await deflateEvents(sources, part, at, upTo - at, held))
    at = upTo
  }
}

async function deflateEvents(
  { events, sealed }: PageSources,
  part: Part,
  index: number,
  count: number,
  held: PagePart[],
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

async function deflateRead(pieces: readonly Uint8Array[], held: PagePart[]): Promise<DeflatedPiece> {
  const joined = Buffer.concat(pieces)
  pieces.forEach(freeBytes)
  try {
    return await deflateHurriedly(joined, held)
  } finally {
    freeBytes(joined)
  }
}

async function deflateHurriedly(text: Uint8Array, held: PagePart[]): Promise<DeflatedPiece> {
  const piece = await deflatePiece(text, hurriedLevel)
  held.push(ownBytes([piece.bytes]))
  return piece
}
