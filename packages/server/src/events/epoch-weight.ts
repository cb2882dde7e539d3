/** The number of an epoch's characters that are in its weight; 10 of them are random. */
const weighedCharacters = 5

/** The sum of all epochs' weights shows whether one has changed; every engine computes it in one statement. ASCII: 7 bits a character. */
export function epochWeight(epoch: string): number {
  let weight = 0
  for (let index = weighedCharacters - 1; index >= 0; index -= 1)
    weight = weight * 128 + (epoch.charCodeAt(index) || 0)
  return weight
}

/** The same in SQL, for a column `epoch`; `code`: the function that returns the code of a text's first character. */
export function epochWeightSql(code: 'ascii' | 'unicode'): string {
  const terms = Array.from(
    { length: weighedCharacters },
    (_, index) => `coalesce(${code}(substr(epoch, ${index + 1}, 1)), 0) * CAST(${128 ** index} AS bigint)`,
  )
  return terms.join(' + ')
}
