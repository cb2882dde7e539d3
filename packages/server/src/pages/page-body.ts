/** The body of a page on its way out: pieces of bytes, some of which go back into a pool afterwards. */
export interface PageBody {
  readonly pieces: readonly Uint8Array[]
  readonly byteLength: number
  /** To be called once, when the pieces have been handed to the socket or are not needed any more. */
  release(): void
}

export type ContentCoding = 'identity' | 'gzip'

/** The bytes around the events of a page (spec §2.2). */
export interface Envelope {
  readonly start: Uint8Array
  readonly end: Uint8Array
}

const start = Buffer.from('{"items":[')

export function envelopeOf(page: {
  readonly page: number
  readonly pageSize: number
  readonly availableCount: number
  readonly totalPages: number
}): Envelope {
  const { page: number, pageSize, availableCount, totalPages } = page
  const end = `],"page":${number},"pageSize":${pageSize},"availableCount":${availableCount},"totalPages":${totalPages}}`
  return { start, end: Buffer.from(end) }
}

export const comma = Buffer.from(',')
