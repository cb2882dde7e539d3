/** An array of values that need no quotes, as PostgreSQL reads it; `null` for none. */
export function list(values: readonly (string | number | bigint | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}
