/** Finds where bytes stop being UTF-8, for the person who has to correct them. Runs only after they were refused, in pieces like `syntax-fault.ts`. */

/** `line` and `column` count from 1, and columns count characters, as editors do. */
interface Utf8Fault {
  readonly line: number
  /** `undefined`: not known. */
  readonly column: number | undefined
  /** With this byte no character begins, or the one that begins with it does not go on. */
  readonly byte: number
}

/** The bytes to look at before other work gets a turn. */
const pieceBytes = 16_384
const lineFeed = 0x0a

/** `undefined`: the bytes are UTF-8. */
export function* findUtf8Fault(text: Uint8Array): Generator<undefined, Utf8Fault | undefined> {
  let line = 1
  let column = 1
  let turn = 0
  for (let at = 0; at < text.length;) {
    if (at - turn > pieceBytes) {
      turn = at
      yield undefined
    }
    const length = characterLength(text, at)
    if (length === 0) return { line, column, byte: text[at] ?? 0 }
    column += 1
    if (text[at] === lineFeed) {
      line += 1
      column = 1
    }
    at += length
  }
  return undefined
}

/** In bytes; 0: no character begins here (RFC 3629 §4). */
function characterLength(text: Uint8Array, at: number): number {
  const first = text[at] ?? 0
  if (first < 0x80) return 1
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  for (let next = 1; next < length; next += 1) {
    const [from, to] = next === 1 ? secondByte(first) : [0x80, 0xbf]
    const byte = text[at + next] ?? 0
    if (byte < from || byte > to) return 0
  }
  return length
}

/** Shorter forms, surrogates and what is beyond Unicode are refused by the second byte. */
function secondByte(first: number): readonly [from: number, to: number] {
  if (first === 0xe0) return [0xa0, 0xbf]
  if (first === 0xed) return [0x80, 0x9f]
  if (first === 0xf0) return [0x90, 0xbf]
  return [0x80, first === 0xf4 ? 0x8f : 0xbf]
}

/** A sentence for people: what is wrong, where, and what to do. */
export function utf8FaultText({ line, column, byte }: Utf8Fault): string {
  const place = column === undefined ? `line ${line}` : `line ${line}, column ${column}`
  const shown = `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`
  if (line === 1 && column === 1 && byte >= 0xfe) {
    return `It begins with the byte ${shown}, as UTF-16 does. Save or convert it as UTF-8.`
  }
  return `The byte ${shown} at ${place} does not belong there. Is the text Windows-1252 or ISO-8859-1? Save or convert it as UTF-8.`
}
