/** A page as it stands: sealed segments, or what the engine reads, joined by commas. */
import type { LocatedPage } from '../feed/list.ts'
import { bodyOf, giveBack, ownBytes } from './held-bytes.ts'
import type { Held } from './held-bytes.ts'
import { comma, envelopeEnd, envelopeStart } from './page-body.ts'
import type { PageBody } from './page-body.ts'
import { readUnsealed } from './page-parts.ts'
import type { PageSources, Part, SealedPages } from './page-parts.ts'
import type { SegmentBytes } from './segment-memory.ts'

/** The page, if all of it is sealed. */
export function sealedPlain(
  sealed: SealedPages,
  page: LocatedPage,
  parts: readonly Part[],
): PageBody | undefined {
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

export async function readPlain(
  sources: PageSources,
  page: LocatedPage,
  parts: readonly Part[],
): Promise<PageBody> {
  const pieces: Uint8Array[] = [envelopeStart]
  const held: Held[] = []
  try {
    for (const part of parts) {
      if (pieces.length > 1) pieces.push(comma)
      const segment = sources.sealed?.store.joined(part.segment, part.index, part.count)
      if (segment === undefined) {
        const read = await readUnsealed(sources, part)
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
