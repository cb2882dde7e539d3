/** So many characters of an epoch are in its weight: of 10 that are random. */
const weighedCharacters = 5

/** Weights of all epochs together tell whether one has changed; every engine sums them in one statement. ASCII: 7 bits a character. */
export function epochWeight(epoch: string): number {
  let weight = 0
  for (let index = weighedCharacters - 1; index >= 0; index -= 1)
    weight = weight * 128 + (epoch.charCodeAt(index) || 0)
  return weight
}

/** The same in SQL, of a column `epoch`; `code`: the function that gives the code of a text's first character. */
export function epochWeightSql(code: 'ascii' | 'unicode'): string {
  const terms = Array.from(
    { length: weighedCharacters },
    (_, index) => `coalesce(${code}(substr(epoch, ${index + 1}, 1)), 0) * CAST(${128 ** index} AS bigint)`,
  )
  return terms.join(' + ')
}
