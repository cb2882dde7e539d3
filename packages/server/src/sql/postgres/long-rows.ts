/**
 * Long values of rows as bytes. node-postgres makes a text of each value, so a page of long events was in memory as what came from the
 * socket, as what the parser gathered from that, as texts, and as bytes again, and most of it stayed until V8 collected old objects: some
 * 200 MiB beside what is counted as in flight, under attack. Here each long row is gathered before the parser sees it, in memory of just its
 * size, and the parser gets a short row that has a token in place of each long value (decision 0052).
 */
import { types } from 'pg'
import type { Client, CustomTypesConfig } from 'pg'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'

/** A text of the database; bytes if it is long and the statement says `longTexts: 'bytes'`. */
export type TextOrBytes = string | Uint8Array

/** The text in UTF-8. A long one has memory of its own, which `freeBytes` returns. */
export function utf8Of(text: TextOrBytes): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text
}

/** Shorter values are garbage soon, and rows with none that is longer are left to the parser. As in `freeEvents`. */
export const longValueBytes = 16_384

/** Gathers the long rows of a client; its queries need `textsAsTexts` or `longTextsAsBytes`. To be called before the client connects. */
export function gatherLongRows({ connection }: Client): void {
  const attachListeners: unknown = Reflect.get(connection, 'attachListeners')
  if (typeof attachListeners !== 'function') throw new Error('node-postgres no longer reads as it did')
  const attachToShortRows = (socket: Incoming): unknown =>
    Reflect.apply(attachListeners, connection, [withShortRows(socket)])
  Object.assign(connection, { attachListeners: attachToShortRows })
}

/** What the parser uses of a socket. */
interface Incoming {
  on(event: 'data' | 'end', listener: (bytes: Buffer) => void): unknown
}

function withShortRows(socket: Incoming): Incoming {
  return {
    on(event, listener) {
      if (event === 'end') return socket.on('end', listener)
      const rows = new LongRows(listener)
      return socket.on('data', (bytes) => rows.take(bytes))
    },
  }
}

/** A message is a letter, the length of the rest with these four bytes, and the rest (PostgreSQL's protocol 3.0). */
const headBytes = 5
const dataRow = 'D'.charCodeAt(0)
const none = Buffer.alloc(0)

/** Passes on what comes, in order: short messages as they come, and long rows shortened, once each is complete. */
class LongRows {
  readonly #pass: (bytes: Buffer) => void
  /** The beginning of a message whose head is not complete. */
  #head = none
  /** Bytes of the present message that are still to come. */
  #leftBytes = 0
  /** The present message, if it is a long row. */
  #row: Buffer | undefined

  constructor(pass: (bytes: Buffer) => void) {
    this.#pass = pass
  }

  take(chunk: Buffer): void {
    const bytes = this.#head.byteLength === 0 ? chunk : Buffer.concat([this.#head, chunk])
    this.#head = none
    /** Everything before this has been passed on or gathered. */
    let from = 0
    let isInUse = false
    const passUpTo = (end: number): void => {
      if (end > from) {
        this.#pass(bytes.subarray(from, end))
        isInUse = true
      }
      from = end
    }
    for (let at = 0; at < bytes.byteLength;) {
      if (this.#leftBytes === 0) {
        if (bytes.byteLength - at < headBytes) {
          passUpTo(at)
          this.#head = Buffer.from(bytes.subarray(at))
          from = bytes.byteLength
          break
        }
        this.#leftBytes = 1 + bytes.readUInt32BE(at + 1)
        if (bytes[at] === dataRow && this.#leftBytes > longValueBytes) {
          passUpTo(at)
          this.#row = Buffer.allocUnsafeSlow(this.#leftBytes)
        }
      }
      const count = Math.min(this.#leftBytes, bytes.byteLength - at)
      if (this.#row !== undefined) {
        bytes.copy(this.#row, this.#row.byteLength - this.#leftBytes, at, at + count)
        from = at + count
      }
      at += count
      this.#leftBytes -= count
      if (this.#leftBytes === 0) this.#passRow()
    }
    passUpTo(bytes.byteLength)
    // The parser keeps the end of what it is given until the rest of that message comes.
    if (!isInUse) freeBytes(chunk)
  }

  #passRow(): void {
    const row = this.#row
    if (row === undefined) return
    this.#row = undefined
    const { short, values } = shortened(row)
    longValues = values
    try {
      this.#pass(short)
    } finally {
      longValues = []
      if (short !== row) freeBytes(row)
    }
  }
}

/** Of the row that is being passed on: the parser and the query that it belongs to take them before that returns. */
let longValues: readonly Uint8Array[] = []

/** No text of a database has a NUL. */
const tokenStart = '\0'

function longValueOf(text: string): Uint8Array | undefined {
  return text.startsWith(tokenStart) ? longValues[Number(text.slice(tokenStart.length))] : undefined
}

function shortened(row: Buffer): { readonly short: Buffer; readonly values: readonly Uint8Array[] } {
  const lengthBytes = 4
  const values: Uint8Array[] = []
  let at = headBytes + 2
  const parts = [row.subarray(0, at)]
  for (let left = row.readInt16BE(headBytes); left > 0; left -= 1) {
    const length = row.readInt32BE(at)
    const start = at + lengthBytes
    // Null has no bytes, and the length -1.
    const end = start + Math.max(0, length)
    if (length < longValueBytes) parts.push(row.subarray(at, end))
    else {
      const token = Buffer.from(`${' '.repeat(lengthBytes)}${tokenStart}${values.length}`)
      token.writeInt32BE(token.byteLength - lengthBytes)
      parts.push(token)
      const value = Buffer.allocUnsafeSlow(length)
      row.copy(value, 0, start, end)
      values.push(value)
    }
    at = end
  }
  if (values.length === 0) return { short: row, values }
  const short = Buffer.concat(parts)
  short.writeUInt32BE(short.byteLength - 1, 1)
  return { short, values }
}

/** Every value as without this file. */
export const textsAsTexts = readingWith(asText)

const textType: number = types.builtins.TEXT

/** Long values of the type `text` as bytes. */
export const longTextsAsBytes = readingWith((parse, type) =>
  type === textType ? (text) => longValueOf(text) ?? parse(text) : asText(parse),
)

const wholeNumberType: number = types.builtins.INT8

/** Numbers in place of the texts of whole numbers: for tables that hold none beyond 2^53. */
const numbersAsNumbers = readingWith((parse, type) => (type === wholeNumberType ? Number : asText(parse)))

/** How the rows of a statement are read. */
export function typesOf({
  longTexts,
  numbers,
}: {
  readonly longTexts?: 'bytes'
  readonly numbers?: true
}): CustomTypesConfig {
  if (numbers === true) return numbersAsNumbers
  return longTexts === 'bytes' ? longTextsAsBytes : textsAsTexts
}

type Parse = (text: string) => unknown

function asText(parse: Parse): Parse {
  return (text) => {
    const bytes = longValueOf(text)
    return parse(bytes === undefined ? text : Buffer.from(bytes.buffer).toString())
  }
}

/** `parserOf`: what becomes of a type's own parser. Called once for each type. */
function readingWith(parserOf: (parse: Parse, type: number) => Parse): CustomTypesConfig {
  const parsers = new Map<number, Parse>()
  return {
    getTypeParser(type: number) {
      const known = parsers.get(type)
      if (known !== undefined) return known
      const parse = parserOf(types.getTypeParser(type), type)
      parsers.set(type, parse)
      return parse
    },
  }
}
