/** The one way a text that somebody wrote becomes a whole number. */

export interface NumberRange {
  /** 0 by default. */
  readonly from?: number
  /** 2^53 - 1 by default. */
  readonly to?: number
}

/**
 * A whole number as people write one: digits, without a sign, a leading zero, blanks, a fraction or an exponent. `undefined` for
 * any other text, such as `0x10`, `1e3` or ` 1`, and outside the range, whose ends belong to it.
 */
export function readWholeNumber(
  text: string,
  { from = 0, to = Number.MAX_SAFE_INTEGER }: NumberRange = {},
): number | undefined {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return undefined
  const number = Number(text)
  return number >= from && number <= to ? number : undefined
}
