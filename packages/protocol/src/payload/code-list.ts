/** One value of a code list and what it means. */
export interface Code<C extends number | string> {
  readonly code: C
  readonly label: string
}

/**
 * A named list of the codes a payload field may have. It is reference data, not a filter: a code that is not in its
 * list is stored and served unchanged, and only causes a warning.
 */
export interface CodeList<C extends number | string> {
  /** The name of the list in texts for people, such as `status`. */
  readonly name: string
  readonly codes: readonly Code<C>[]
  /** The same entries for look-ups in constant time. */
  readonly labels: ReadonlyMap<C, string>
}

/** Builds a list of numeric codes from `[code, label]` pairs, in the order in which they should be shown. */
export function numericCodes(
  name: string,
  entries: readonly (readonly [number, string])[],
): CodeList<number> {
  return codeList(name, entries)
}

/** Builds a list of codes that are texts from `[code, label]` pairs, in the order in which they should be shown. */
export function textCodes(name: string, entries: readonly (readonly [string, string])[]): CodeList<string> {
  return codeList(name, entries)
}

/** The whole list as one line of text: `1 Available, 2 SSTC`. */
export function listCodes(list: { readonly codes: readonly Code<number | string>[] }): string {
  return list.codes.map(({ code, label }) => `${code} ${label}`).join(', ')
}

function codeList<C extends number | string>(
  name: string,
  entries: readonly (readonly [C, string])[],
): CodeList<C> {
  return { name, codes: entries.map(([code, label]) => ({ code, label })), labels: new Map(entries) }
}
