/** Codes with their names. */
import { codeNames } from './code-names.ts'

export type CodeListName = keyof typeof codeNames

/** A code and its meaning. */
export interface Named<Code extends number | string = number> {
  readonly code: Code
  /** `null` if the code is in no known list: the feed passes it on unchanged. */
  readonly name: string | null
}

/** The meaning of a code in a list; `undefined` if the list does not have the code. */
export function nameOf(list: CodeListName, code: number | string): string | undefined {
  const names: Readonly<Record<string, string>> = codeNames[list]
  return Object.hasOwn(names, code) ? names[code] : undefined
}

/** The code of a name, in any case; `undefined` if the list does not have the name. */
export function codeOf(list: CodeListName, name: string): string | undefined {
  const wanted = name.toLowerCase()
  return Object.entries(codeNames[list]).find(([, known]) => known.toLowerCase() === wanted)?.[0]
}

export function named<Code extends number | string>(list: CodeListName, code: Code): Named<Code>
export function named<Code extends number | string>(
  list: CodeListName,
  code: Code | null | undefined,
): Named<Code> | null
export function named<Code extends number | string>(
  list: CodeListName,
  code: Code | null | undefined,
): Named<Code> | null {
  return code === null || code === undefined ? null : { code, name: nameOf(list, code) ?? null }
}

/** A word that is a code, in either case: `c` is the energy rating `C`. */
export function namedWord(list: CodeListName, word: string | null | undefined): Named<string> | null {
  return word === null || word === undefined ? null : named(list, codeOfWord(list, word))
}

export function namedWords(
  list: CodeListName,
  words: readonly string[] | undefined,
): readonly Named<string>[] {
  return (words ?? []).map((word) => named(list, codeOfWord(list, word)))
}

function codeOfWord(list: CodeListName, word: string): string {
  const wanted = word.trim().toLowerCase()
  return Object.keys(codeNames[list]).find((code) => code.toLowerCase() === wanted) ?? word
}

/** Each code of a list of codes with its name. */
export function namedAll(list: CodeListName, codes: readonly number[] | undefined): readonly Named[] {
  return (codes ?? []).map((code) => named(list, code))
}

/** How a text of one line is read: lists show it as it was written, listings as it was meant. */
export type ReadText = (text: string | null | undefined) => string

/** As it was written, without superfluous blanks. */
export const asWritten: ReadText = (text) => (text ?? '').replaceAll(/\s+/g, ' ').trim()
