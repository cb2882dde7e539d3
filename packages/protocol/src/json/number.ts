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
