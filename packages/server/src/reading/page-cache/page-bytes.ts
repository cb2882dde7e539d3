/** The bytes that a page holds until it is sent, and the body made of them. */
import { freeBytes } from '../../runtime/memory/free-bytes.ts'
import type { PageBody } from '../../http/answer-body.ts'
import { marginBytes } from './segments/segment-memory.ts'
import type { SegmentBytes } from './segments/segment-memory.ts'

/** Bytes of a segment, or bytes of the page's own. */
export type PagePart = Pick<SegmentBytes, 'release' | 'ownBytes'> &
  Partial<Pick<SegmentBytes, 'bytes' | 'withMargins'>>

/** Bytes that nothing else uses: releasing them frees their memory. */
export function ownBytes(pieces: readonly Uint8Array[]): PagePart {
  return { ownBytes: lengthOf(pieces), release: () => pieces.forEach(freeBytes) }
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  let byteLength = 0
  for (const piece of pieces) byteLength += piece.byteLength
  return byteLength
}

export function sumOf(lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + length, 0)
}

/** Releases the parts of a page that will not be made after all. */
export function giveBack(held: readonly PagePart[]): undefined {
  for (const segment of held) segment.release()
  return undefined
}

/** `held` is what `pieces` are parts of, until the body is released. */
export function bodyOf(pieces: readonly Uint8Array[], held: readonly PagePart[]): PageBody {
  let ownBytes = 0
  for (const part of held) ownBytes += part.ownBytes
  return {
    kind: 'whole',
    pieces: inOnePiece(pieces, held) ?? pieces,
    byteLength: lengthOf(pieces),
    ownBytes,
    release() {
      for (const segment of held) segment.release()
    },
  }
}

/** Three writes cost 3 µs more than one, which is a twentieth of an answer. */
function inOnePiece(
  pieces: readonly Uint8Array[],
  [segment]: readonly PagePart[],
): readonly Uint8Array[] | undefined {
  const [start, bytes, end] = pieces
  if (segment?.withMargins === undefined || pieces.length !== 3 || bytes !== segment.bytes) return undefined
  if (start === undefined || bytes === undefined || end === undefined) return undefined
  if (start.byteLength > marginBytes || end.byteLength > marginBytes) return undefined
  const { withMargins } = segment
  withMargins.set(start, marginBytes - start.byteLength)
  withMargins.set(end, marginBytes + bytes.byteLength)
  return [
    withMargins.subarray(marginBytes - start.byteLength, marginBytes + bytes.byteLength + end.byteLength),
  ]
}
