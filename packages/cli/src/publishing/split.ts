import { Refusal } from '../refusal.ts'

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
  let buffer = createPieceBuffer(maxBytes)
  const piece = (): Piece => ({ line, item: undefined, bytes: buffer.bytes(), endOffset: offset })
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      buffer.add(chunk.subarray(start, end))
      offset += end + 1 - start
      if (!buffer.isBlank()) yield piece()
      buffer = createPieceBuffer(maxBytes)
      line += 1
      start = end + 1
    }
    buffer.add(chunk.subarray(start))
    offset += chunk.length - start
  }
  if (!buffer.isBlank()) yield piece()
}

interface PieceBuffer {
  add(part: Buffer): void
  isBlank(): boolean
  bytes(): Buffer | undefined
}

/** Collects parts up to the allowed length; beyond it, only notes that there was too much. */
function createPieceBuffer(maxBytes = maxPieceBytes): PieceBuffer {
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

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])

/**
 * The elements of one JSON array, or one JSON object, as they are written: numbers keep their spelling (D22). It only
 * finds where elements begin and end; the caller checks whether each is JSON. A file that ends inside an element, or
 * continues after the end, throws a `Refusal` there, after the earlier elements have been yielded.
 */
export async function* splitJson(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece> {
  const state = { line: 1, item: 0, depth: 0, inString: false, escaped: false, isArray: false, ended: false }
  let offset = 0
  let begun: { readonly line: number; readonly buffer: PieceBuffer } | undefined
  let started = false

  for await (const chunk of chunks) {
    let bufferedFrom = 0
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0
      if (byte === lineFeed) state.line += 1
      if (state.inString) {
        if (state.escaped) state.escaped = false
        else if (byte === backslash) state.escaped = true
        else if (byte === quote) state.inString = false
        continue
      }
      if (isWhiteSpaceByte(byte)) continue
      if (state.ended)
        throw new Refusal(
          `Line ${state.line}: the JSON document has ended, and more text follows. If it is NDJSON, pass --format ndjson.`,
        )
      if (!started) {
        started = true
        if (byte === 0x5b) {
          state.isArray = true
          state.depth = 1
          continue
        }
        if (byte !== 0x7b)
          throw new Refusal(
            'A JSON file of events begins with [ or {. If it is NDJSON, pass --format ndjson.',
          )
      }
      const outer = state.isArray ? 1 : 0
      const endsElement = state.depth === outer && (byte === comma || closing.has(byte))
      if (!endsElement && begun === undefined) {
        begun = { line: state.line, buffer: createPieceBuffer() }
        bufferedFrom = index
      }
      if (byte === quote) state.inString = true
      else if (opening.has(byte)) state.depth += 1
      else if (closing.has(byte)) state.depth -= 1
      const objectEnds = !state.isArray && state.depth === 0
      if (!endsElement && !objectEnds) continue
      if (begun !== undefined) {
        begun.buffer.add(chunk.subarray(bufferedFrom, objectEnds ? index + 1 : index))
        state.item += 1
        yield {
          line: begun.line,
          item: state.item,
          bytes: begun.buffer.bytes(),
          endOffset: offset + index + 1,
        }
        begun = undefined
      }
      if (state.depth === 0) state.ended = true
    }
    if (begun !== undefined) begun.buffer.add(chunk.subarray(bufferedFrom))
    offset += chunk.length
  }
  if (started && !state.ended) {
    throw new Refusal(`The file ends in the middle of its JSON document (line ${state.line}). Is it cut off?`)
  }
}
