/** The codes of the characters that JSON is made of: in UTF-8 and UTF-16 the same. */

export const quote = 0x22
export const backslash = 0x5c
export const comma = 0x2c
export const colon = 0x3a
export const minus = 0x2d
export const openBracket = 0x5b
export const closeBracket = 0x5d
export const openBrace = 0x7b
export const closeBrace = 0x7d
export const letterU = 0x75

export function isWhiteSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Lower case only, as in `true`, `false` and `null`. */
export function isLetter(code: number): boolean {
  return code >= 0x61 && code <= 0x7a
}

/** The index of the character, from `from` on; the length of the text if it does not occur. */
export function indexOrEnd(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from)
  return index < 0 ? text.length : index
}

/** The UTF-16 unit that four hexadecimal digits after a `\u` stand for; NaN if not even the first is one. */
export function unitAt(text: string, index: number): number {
  let unit = 0
  for (let at = index; at < index + 4; at += 1) {
    const digit = hexDigit(text.charCodeAt(at))
    // This is not JSON, and `JSON.parse` will refuse it.
    if (digit < 0) return Number.parseInt(text.slice(index, index + 4), 16)
    unit = unit * 16 + digit
  }
  return unit
}

function hexDigit(code: number): number {
  if (isDigit(code)) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/**
 * Why a number in a JSON text is refused, in a sentence; `undefined` when it is not. Numbers are kept as written. Two
 * kinds are refused: whole numbers that a double cannot hold (they are usually ids), and numbers that a double turns
 * into infinity or 0. A fraction or an exponent may be rounded.
 */
export function numberFault(lexeme: string): string | undefined {
  const value = Number(lexeme)
  if (Number.isNaN(value)) return undefined
  if (!Number.isFinite(value)) return 'The number is too large: JSON numbers go up to about 1.8e308.'
  if (/^-?\d+$/.test(lexeme) && !Number.isSafeInteger(value))
    return 'A whole number must be between -9007199254740991 and 9007199254740991; send a longer one as text, in quotes.'
  if (value === 0 && /[1-9]/.test(lexeme.split(/e/i)[0] ?? ''))
    return 'The number is too close to 0: JSON numbers begin at about 5e-324.'
  return undefined
}
