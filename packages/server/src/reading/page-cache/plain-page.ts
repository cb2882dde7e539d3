/** A page as plain JSON: sealed segments, or what the engine reads, joined by commas. */
import type { LocatedPage } from '../list.ts'
import { bodyOf, giveBack, lengthOf, ownBytes } from './page-bytes.ts'
import type { PagePart } from './page-bytes.ts'
import { comma, envelopeEnd, envelopeStart } from './page-body.ts'
import { wholeBytes } from '../../http/answer-body.ts'
import type { StreamedBody } from './page-body.ts'
import type { PageBody } from '../../http/answer-body.ts'
import { readUnsealed } from './page-parts.ts'
import type { PageSources, Part, SealedPages } from './page-parts.ts'
import type { SegmentBytes } from './segments/segment-memory.ts'
import { lengthOfPlain, streamedPlain } from './streamed-page.ts'

/** The page, if all of it is sealed. `long`: it is sealed, but so long that it has to be streamed. */
export function sealedPlain(
  sealed: SealedPages,
  page: LocatedPage,
  parts: readonly Part[],
): PageBody | 'long' | undefined {
  const pieces: Uint8Array[] = [envelopeStart]
  const held: SegmentBytes[] = []
  let byteLength = 0
  for (const { segment, index, count } of parts) {
    const found = sealed.store.joined(segment, index, count)
    if (found === undefined) return giveBack(held)
    if (held.length > 0) pieces.push(comma)
    held.push(found)
    pieces.push(found.bytes)
    byteLength += found.bytes.byteLength
    if (byteLength > wholeBytes) {
      giveBack(held)
      return 'long'
    }
  }
  pieces.push(envelopeEnd(page))
  return bodyOf(pieces, held)
}

/** Pages of more parts than this are measured before the first of them is read. */
const fewParts = 3

export async function readPlain(
  sources: PageSources,
  page: LocatedPage,
  parts: readonly Part[],
): Promise<PageBody | StreamedBody> {
  if (parts.length > fewParts) {
    const byteLength = await lengthOfPlain(sources, page, parts)
    if (byteLength > wholeBytes) return streamedPlain(sources, page, parts, byteLength)
  }
  return (
    (await readWhole(sources, page, parts)) ??
    streamedPlain(sources, page, parts, await lengthOfPlain(sources, page, parts))
  )
}

/** `undefined`: the page is too long to be made whole, or there is no room for it. */
async function readWhole(
  sources: PageSources,
  page: LocatedPage,
  parts: readonly Part[],
): Promise<PageBody | undefined> {
  const pieces: Uint8Array[] = [envelopeStart]
  const held: PagePart[] = []
  const making = sources.beginMaking()
  try {
    for (const part of parts) {
      if (pieces.length > 1) pieces.push(comma)
      const segment = sources.sealed?.store.joined(part.segment, part.index, part.count)
      if (segment === undefined) {
        const read = await readUnsealed(sources, part, Math.max(0, wholeBytes - lengthOf(pieces)))
        if (read === undefined) return giveBack(held)
        const own = ownBytes(read)
        held.push(own)
        pieces.push(...read)
        if (!making.take(own.ownBytes)) return giveBack(held)
      } else {
        held.push(segment)
        pieces.push(segment.bytes)
      }
      if (lengthOf(pieces) > wholeBytes) return giveBack(held)
    }
  } catch (error) {
    giveBack(held)
    throw error
  } finally {
    making.end()
  }
  pieces.push(envelopeEnd(page))
  return bodyOf(pieces, held)
}
