/** Requests that can be pasted into a terminal as they stand. */

/** `options` as they stand in the command; the address is quoted. */
export function curl(options: readonly string[], url: string): string {
  return ['curl', ...options, quoted(url)].join(' \\\n  ')
}

/** For a shell of POSIX. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
