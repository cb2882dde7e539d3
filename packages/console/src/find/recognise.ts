/** What somebody pasted into the find box. */
import { readCount } from '../words/numbers.ts'

export type SearchTerm =
  | { readonly kind: 'nothing' }
  /** The id of an event, property, contact or agency; only requests show which. Lower case. */
  | { readonly kind: 'uuid'; readonly uuid: string }
  /** A number of an event. */
  | { readonly kind: 'number'; readonly number: number }
  /** The id of a key. The secret stays where it was pasted and is never sent. */
  | { readonly kind: 'key'; readonly keyId: string }
  /** Anything else: a postcode, street, name or reference. */
  | { readonly kind: 'words'; readonly words: string; readonly isPostcode: boolean }

const uuidPattern = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i
const postcodePattern = /^[a-z]{1,2}\d[a-z\d]?\s*(?:\d[a-z]{2})?$/i
const longestWords = 100

/** Finds it also within a line of a log or the address of a page: the first UUID or key counts. */
export function recognise(pasted: string): SearchTerm {
  const text = pasted.trim().slice(0, 2_000)
  if (text === '') return { kind: 'nothing' }
  const keyId = /pev_(?:test_)?([0-9A-Za-z]{12})(?![0-9A-Za-z])/.exec(text)?.[1]
  if (keyId !== undefined) return { kind: 'key', keyId }
  const uuid = uuidPattern.exec(text)?.[0]
  if (uuid !== undefined) return { kind: 'uuid', uuid: uuid.toLowerCase() }
  const number = readCount(text)
  if (number !== undefined) return { kind: 'number', number }
  const words = text.slice(0, longestWords)
  return { kind: 'words', words, isPostcode: postcodePattern.test(words) }
}
