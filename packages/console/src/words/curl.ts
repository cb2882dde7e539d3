/** Requests that can be pasted unchanged into a terminal. */

/** `options` exactly as in the command; the address is quoted. */
export function curl(options: readonly string[], url: string): string {
  return ['curl', ...options, quoted(url)].join(' \\\n  ')
}

/** For a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
