import { Refusal } from '../refusal.ts'
import { createKeeper, isWhiteSpaceByte } from './split-lines.ts'
import type { Keeper, Piece } from './split-lines.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const lineFeed = 0x0a
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
  let begun: { readonly line: number; readonly kept: Keeper } | undefined
  let started = false

  for await (const chunk of chunks) {
    let keptFrom = 0
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
          `Line ${state.line}: the JSON document has ended, and more text follows. Is it NDJSON? Then say --format ndjson.`,
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
            'A JSON file of events begins with [ or {. Is it NDJSON? Then say --format ndjson.',
          )
      }
      const outer = state.isArray ? 1 : 0
      const endsElement = state.depth === outer && (byte === comma || closing.has(byte))
      if (!endsElement && begun === undefined) {
        begun = { line: state.line, kept: createKeeper() }
        keptFrom = index
      }
      if (byte === quote) state.inString = true
      else if (opening.has(byte)) state.depth += 1
      else if (closing.has(byte)) state.depth -= 1
      const objectEnds = !state.isArray && state.depth === 0
      if (!endsElement && !objectEnds) continue
      if (begun !== undefined) {
        begun.kept.add(chunk.subarray(keptFrom, objectEnds ? index + 1 : index))
        state.item += 1
        yield { line: begun.line, item: state.item, bytes: begun.kept.bytes(), endOffset: offset + index + 1 }
        begun = undefined
      }
      if (state.depth === 0) state.ended = true
    }
    if (begun !== undefined) begun.kept.add(chunk.subarray(keptFrom))
    offset += chunk.length
  }
  if (started && !state.ended) {
    throw new Refusal(`The file ends in the middle of its JSON document (line ${state.line}). Is it cut off?`)
  }
}
