/** Bytes that many readers get at the same time. They are laid out once and written to every connection unchanged. */

/** Any number of connections share these bytes, so nobody may change them. */
export interface LivePiece {
  readonly bytes: Uint8Array
  /** The same bytes framed as one HTTP chunk (RFC 9112 §7.1), so that they leave in one write. */
  readonly chunk: Uint8Array
}

const lineEnd = Buffer.from('\r\n')

/** Copies the parts, which must have at least one byte in all. */
export function livePiece(parts: readonly Uint8Array[]): LivePiece {
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const size = Buffer.from(`${length.toString(16)}\r\n`)
  const chunk = Buffer.concat([size, ...parts, lineEnd])
  return { bytes: chunk.subarray(size.length, size.length + length), chunk }
}

/** The connection of a live answer, as the operation sees it. */
export interface LiveOut {
  /**
   * Returns true if the kernel has taken the whole piece. If not, the caller must not write again before `onTaken` is called. `onTaken` is
   * never called if the connection closes first.
   */
  write(piece: LivePiece, onTaken: () => void): boolean
  /** Ends the answer properly. */
  end(): void
  /** Cuts the answer off and reports the error. */
  fail(error: unknown): void
}
