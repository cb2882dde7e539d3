/** A time in an answer: UTC, to the millisecond. */
export function timeOf(ms: number): string
export function timeOf(ms: number | undefined): string | null
export function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
