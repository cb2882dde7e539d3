/** A body too long to be made whole. Each piece is made when the one before has been sent. */
export interface StreamedBody {
  readonly kind: 'streamed'
  /** `undefined`: known only at the end, because the body is compressed on the way. */
  readonly byteLength: number | undefined
  /**
   * Call it at most once. Each piece stays usable until the next one is requested. Throws when the store does. The pieces have
   * `byteLength` bytes in all, unless the feed's payloads were reduced meanwhile.
   */
  pieces(): AsyncGenerator<Uint8Array>
}

/** The rest is sent in pieces of about this size: longer than the longest event, and than what a socket takes at once. */
export const pieceBytes = 512 * 1_024

export const envelopeStart = Buffer.from('{"items":[')

/** The bytes after the events of a page; before them is `envelopeStart` (spec §2.2). */
export function envelopeEnd(page: {
  readonly page: number
  readonly pageSize: number
  readonly availableCount: number
  readonly totalPages: number
}): Uint8Array {
  const { page: number, pageSize, availableCount, totalPages } = page
  const end = `],"page":${number},"pageSize":${pageSize},"availableCount":${availableCount},"totalPages":${totalPages}}`
  return Buffer.from(end)
}

export const comma = Buffer.from(',')
