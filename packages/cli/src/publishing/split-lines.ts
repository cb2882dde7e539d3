/** Cuts a file of any size into lines or array elements, and holds no more than one of them and one chunk. */

/** A piece of the file that should be one event. */
export interface Piece {
  /** Line in the file where it begins, from 1. */
  readonly line: number
  /** Place in the JSON array, from 1; `undefined` in NDJSON. */
  readonly item: number | undefined
  /** `undefined`: longer than allowed, and not kept. */
  readonly bytes: Buffer | undefined
  /** The byte in the file where it ends, for progress. */
  readonly endOffset: number
}

/** The service accepts payloads of 256 KiB; even one written entirely in six-character escapes fits twice. */
export const maxPieceBytes = 4 * 2 ** 20

const lineFeed = 0x0a

/** NDJSON. Blank lines are counted and not yielded. */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes = maxPieceBytes,
): AsyncGenerator<Piece> {
  let line = 1
  let offset = 0
  let kept = createKeeper(maxBytes)
  const piece = (): Piece => ({ line, item: undefined, bytes: kept.bytes(), endOffset: offset })
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      kept.add(chunk.subarray(start, end))
      offset += end + 1 - start
      if (!kept.isBlank()) yield piece()
      kept = createKeeper(maxBytes)
      line += 1
      start = end + 1
    }
    kept.add(chunk.subarray(start))
    offset += chunk.length - start
  }
  if (!kept.isBlank()) yield piece()
}

export interface Keeper {
  add(part: Buffer): void
  isBlank(): boolean
  bytes(): Buffer | undefined
}

/** Collects parts up to the allowed length; beyond it, only notes that there was too much. */
export function createKeeper(maxBytes = maxPieceBytes): Keeper {
  let parts: Buffer[] = []
  let length = 0
  return {
    add(part) {
      length += part.length
      if (length > maxBytes) parts = []
      else if (part.length > 0) parts.push(part)
    },
    isBlank: () => length <= maxBytes && parts.every((part) => part.every(isWhiteSpaceByte)),
    bytes: () => (length > maxBytes ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts)),
  }
}

export function isWhiteSpaceByte(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
