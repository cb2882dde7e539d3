/**
 * Origins separated by commas, each as browsers write it (RFC 6454): scheme, host and, unless it is the scheme's default, the port.
 * `undefined`: one of them is not an origin. `*` is not accepted: the allowed pages have to be named.
 */
export function readOrigins(text: string): readonly string[] | undefined {
  const origins = text.split(',').map((part) => originOf(part.trim()))
  const known = origins.filter((origin) => origin !== undefined)
  return known.length === origins.length ? [...new Set(known)] : undefined
}

/** People copy a trailing slash from an address. */
function originOf(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@*\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).origin
}
