/** The results for the events of a run. */
export interface Totals {
  readonly published: number
  readonly repeated: number
  readonly unchanged: number
  readonly refused: number
}

export const noTotals: Totals = { published: 0, repeated: 0, unchanged: 0, refused: 0 }

export function addTotals(one: Totals, other: Totals): Totals {
  return {
    published: one.published + other.published,
    repeated: one.repeated + other.repeated,
    unchanged: one.unchanged + other.unchanged,
    refused: one.refused + other.refused,
  }
}

export function sumOf({ published, repeated, unchanged, refused }: Totals): number {
  return published + repeated + unchanged + refused
}

/** `1,200 published, 0 repeated, 3 unchanged, 1 refused`. */
export function totalsText({ published, repeated, unchanged, refused }: Totals, dryRun = false): string {
  const number = (value: number) => value.toLocaleString('en-GB')
  const verb = dryRun ? 'would be published' : 'published'
  return `${number(published)} ${verb}, ${number(repeated)} repeated, ${number(unchanged)} unchanged, ${number(refused)} refused`
}
