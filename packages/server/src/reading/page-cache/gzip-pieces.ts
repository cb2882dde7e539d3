/** What pages as gzip members are made of, whether they are made whole or piece by piece. */
import { memberStart } from './gzip-member.ts'
import type { GzipMember } from './gzip-member.ts'
import { envelopeStart } from './page-body.ts'
import type { Part } from './page-parts.ts'
import { eventsPerPiece, eventsPerSegment, pieceSpan } from './segments/segment.ts'
import type { SegmentBytes } from './segments/segment-memory.ts'

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
