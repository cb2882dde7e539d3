/** Where a text stops being JSON, for the person who has to mend it. Looked for only after a text was refused. */

/** From 1; columns count characters, as editors do. */
export interface TextPlace {
  readonly line: number
  readonly column: number
  /** A few characters on both sides, on one line. */
  readonly excerpt: string
}

/** So that looking takes a few milliseconds at most between two turns of others. */
const pieceBytes = 65_536
/** Deeper texts are refused for that. */
const maxDepth = 1_000
const excerptBefore = 30
const excerptAfter = 20

/**
 * The first byte at which `bytes` from `start` to `end` are no JSON any more; `end` where it is cut off; `undefined`: it is JSON, or too deep.
 * In pieces, between which others can have a turn.
 */
export function* findSyntaxFault(
  bytes: Uint8Array,
  start: number,
  end: number,
): Generator<undefined, number | undefined> {
  const text = { bytes, end }
  const open: number[] = []
  let expected: 'value' | 'firstKey' | 'key' | 'colon' | 'firstValue' | 'comma' | 'nothing' = 'value'
  let turn = start
  for (let at = afterBlanks(text, start); at < end; at = afterBlanks(text, at)) {
    if (at - turn > pieceBytes) {
      turn = at
      yield undefined
    }
    const byte = bytes[at]
    const isKey: boolean = expected === 'key' || expected === 'firstKey'
    if (expected === 'nothing') return at
    if (expected === 'colon') {
      if (byte !== colon) return at
      expected = 'value'
      at += 1
    } else if (
      byte === closing(open.at(-1)) &&
      (expected === 'comma' || expected === 'firstKey' || expected === 'firstValue')
    ) {
      open.pop()
      expected = open.length === 0 ? 'nothing' : 'comma'
      at += 1
    } else if (expected === 'comma') {
      if (byte !== comma) return at
      expected = open.at(-1) === brace ? 'key' : 'value'
      at += 1
    } else if (!isKey && (byte === brace || byte === bracket)) {
      if (open.length >= maxDepth) return undefined
      open.push(byte)
      expected = byte === brace ? 'firstKey' : 'firstValue'
      at += 1
    } else {
      const after = isKey && byte !== quote ? at : afterScalar(text, at)
      if (after <= at) return after === at ? at : -after
      expected = isKey ? 'colon' : open.length === 0 ? 'nothing' : 'comma'
      at = after
    }
  }
  return expected === 'nothing' ? undefined : end
}

/** Line, column and excerpt of a byte. */
export function placeOf(bytes: Uint8Array, offset: number): TextPlace {
  let line = 1
  let lineStart = 0
  for (let at = bytes.indexOf(lineFeed); at !== -1 && at < offset; at = bytes.indexOf(lineFeed, at + 1)) {
    line += 1
    lineStart = at + 1
  }
  // A line may be the whole of a long body: its beginning is counted, not decoded.
  let column = 1
  for (let at = lineStart; at < offset; at += 1) if (((bytes[at] ?? 0) & 0xc0) !== 0x80) column += 1
  const from = Math.max(lineStart, offset - excerptBefore)
  const text = new TextDecoder().decode(bytes.subarray(from, offset + excerptAfter))
  const excerpt = text.split('\n', 1)[0]?.replaceAll(/\s+/g, ' ').trim() ?? ''
  return { line, column, excerpt }
}

const lineFeed = 0x0a
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const bracket = 0x5b
const backslash = 0x5c
const brace = 0x7b

interface Text {
  readonly bytes: Uint8Array
  readonly end: number
}

function closing(opened: number | undefined): number | undefined {
  // Brackets and braces close with the character after next.
  return opened === undefined ? undefined : opened + 2
}

function afterBlanks({ bytes, end }: Text, start: number): number {
  let at = start
  while (
    at < end &&
    (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === lineFeed || bytes[at] === 0x0d)
  )
    at += 1
  return at
}

/** The index after a string, number or literal; where it is broken, minus the index of the first byte that does not belong. */
function afterScalar(text: Text, start: number): number {
  const { bytes, end } = text
  if (bytes[start] === quote) return afterString(text, start)
  const token = String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 400)))
  const whole = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/.exec(token)
  return whole === null ? start : start + whole[0].length
}

function afterString({ bytes, end }: Text, start: number): number {
  for (let at = start + 1; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === quote) return at + 1
    if (byte < 0x20) return -at
    if (byte !== backslash) continue
    const escaped = String.fromCharCode(...bytes.subarray(at + 1, at + 6))
    if (!/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(escaped)) return -at
    at += 1
  }
  return -end
}
