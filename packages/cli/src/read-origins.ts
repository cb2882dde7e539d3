/**
 * Origins with commas between them, each as browsers write it (RFC 6454): scheme, host, and the port where it is not the scheme's own.
 * `undefined`: one of them is none. `*` is not taken: the pages that may ask are named.
 */
export function readOrigins(text: string): readonly string[] | undefined {
  const origins = text.split(',').map((part) => originOf(part.trim()))
  const known = origins.filter((origin) => origin !== undefined)
  return known.length === origins.length ? [...new Set(known)] : undefined
}

/** A slash at its end is what people copy from an address. */
function originOf(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@*\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).origin
}
