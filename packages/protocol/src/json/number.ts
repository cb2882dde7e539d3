/**
 * Why a number in a JSON text is refused, in a sentence; `undefined` when it is not. Numbers are kept as written. Two
 * kinds are refused: whole numbers that a double cannot hold (they are usually ids), and numbers that a double turns
 * into infinity or 0. A fraction or an exponent may be rounded.
 */
export function numberFault(lexeme: string): string | undefined {
  const value = Number(lexeme)
  if (Number.isNaN(value)) return undefined
  if (!Number.isFinite(value)) return 'The number is too large for a double.'
  if (/^-?\d+$/.test(lexeme) && !Number.isSafeInteger(value))
    return 'Whole numbers lie between -(2^53 - 1) and 2^53 - 1.'
  if (value === 0 && /[1-9]/.test(lexeme.split(/e/i)[0] ?? '')) return 'The number is too small for a double.'
  return undefined
}
