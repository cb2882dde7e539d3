/** What is sent to many readers at the same time: laid out once, and written to each of their connections as it is. */

/** Neither its bytes nor those of its chunk may be changed: they are with any number of connections. */
export interface LivePiece {
  readonly bytes: Uint8Array
  /** The same bytes as a chunk of an answer without a length (RFC 9112 §7.1), so that it leaves in one write. */
  readonly chunk: Uint8Array
}

const lineEnd = Buffer.from('\r\n')

/** `parts`: at least one byte together. They are copied. */
export function livePiece(parts: readonly Uint8Array[]): LivePiece {
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const size = Buffer.from(`${length.toString(16)}\r\n`)
  const chunk = Buffer.concat([size, ...parts, lineEnd])
  return { bytes: chunk.subarray(size.length, size.length + length), chunk }
}

/** Where the pieces of an answer go that is sent while it is made. */
export interface LiveOut {
  /**
   * True: the kernel has taken the whole piece. Else nothing more may be written until `taken` is called, which is not called where the
   * connection closes before.
   */
  write(piece: LivePiece, taken: () => void): boolean
  /** The answer is whole. */
  end(): void
  /** The answer cannot go on: it is cut off, and the failure reported. */
  fail(error: unknown): void
}
