/**
 * Why a number of a JSON text is refused, in a sentence; `undefined`: it is not. Numbers are kept as written. Refused are whole numbers that a reader's double turns into others, which as a rule are ids, and
 * what it makes infinite or 0. It may round what is written with a fraction or an exponent.
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
