/**
 * Rules for fields of payloads, for the schemas (`fields.ts`) and for the sentences about faults (`find-faults.ts`).
 */

/** The most elements any array of a payload may have. RTDF's largest limit is 999 media items. */
export const maxArrayItems = 10_000

/** A UUID: 8-4-4-4-12 hexadecimal digits in either case, without braces or a `urn:uuid:` prefix. */
export const uuidPattern = '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$'

/**
 * An absolute http or https URL without a user name or password. Consumers put these URLs into pages and download them,
 * so `javascript:`, `data:` and `file:` are refused, and so are a backslash or an at sign before the path, where URL
 * parsers disagree about the host. Spaces inside a path are accepted, because file names of photographs have them.
 * Takes time linear in the length: no two neighbouring parts share a character.
 */
export const webUrlPattern =
  '^[Hh][Tt][Tt][Pp][Ss]?://' +
  '(?:\\[[0-9A-Fa-f:.]+\\]|[^\\u0000-\\u0020\\u007F/?#@:%<>"`{}|^\\\\\\[\\]]+)' +
  '(?::[0-9]{1,5})?' +
  '(?:[/?#][^\\u0000-\\u001F\\u007F]*)?$'

/**
 * The longest URL that is accepted, in characters: 2,048 is the most that content networks and the sitemap protocol
 * accept, leaves room for signed image addresses (about 1,000), and keeps a URL from being used to store something
 * else.
 */
export const maxUrlLength = 2048

/** The length of a text as JSON Schema counts it: a pair of surrogates is one character. */
export function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}
