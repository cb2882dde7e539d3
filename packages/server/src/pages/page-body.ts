/** The body of a page that is being sent: pieces of bytes, some of which go back into a pool afterwards. */
export interface PageBody {
  readonly pieces: readonly Uint8Array[]
  readonly byteLength: number
  /** To be called once, when the socket has taken the pieces or they are not needed any more. */
  readonly release: () => void
}

export type ContentCoding = 'identity' | 'gzip'

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
