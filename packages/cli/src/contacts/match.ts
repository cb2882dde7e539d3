/**
 * Whether a contact's payload has the name, address, e-mail address or telephone number that a data subject gave. A request rarely has the
 * spelling that is stored, so what is near is a candidate as well: a person decides.
 */
import { memberOf, memberText, nearestName } from '@property-events/protocol'

export const searchKinds = ['name', 'email', 'phone', 'address'] as const

export type SearchKind = (typeof searchKinds)[number]

export interface ContactMatch {
  /** `exact`: all that was given is there; case, accents, blanks and punctuation make no difference. */
  readonly closeness: 'exact' | 'similar'
  /** From 0 to 1, to put candidates in an order. */
  readonly score: number
  /** What it matched, as it was published. */
  readonly text: string
}

/** The best match in a payload; `undefined`: none. */
export type ContactMatcher = (payload: unknown) => ContactMatch | undefined

/** `undefined`: the text cannot be of this kind. */
export function contactMatcher(kind: SearchKind, text: string): ContactMatcher | undefined {
  return matchers[kind](text)
}

const matchers: Readonly<Record<SearchKind, (text: string) => ContactMatcher | undefined>> = {
  name: nameMatcher,
  email: (text) => partMatcher(text, emailsIn, isNearEmail),
  phone: (text) => partMatcher(text, phonesIn, isNearPhone),
  address: (text) => wordMatcher(text, (payload) => [addressOf(payload)]),
}

/** A person's names and a company's; whatever else mentions them, such as notes or an e-mail address, as a candidate. */
function nameMatcher(text: string): ContactMatcher | undefined {
  const matches = wordMatcher(withoutTitle(text), (payload) => [nameOf(payload), companyOf(payload)])
  const mentions = wordMatcher(withoutTitle(text), textsIn)
  if (matches === undefined || mentions === undefined) return undefined
  const [longest = ''] = wordsOf(withoutTitle(text)).toSorted((one, other) => other.length - one.length)
  return (payload) => {
    const found = matches(payload)
    if (found !== undefined) return found
    const mentioned = mentions(payload)
    if (mentioned?.closeness === 'exact') return { ...mentioned, closeness: 'similar', score: 0.6 }
    return emailWith(longest, payload)
  }
}

/** `zkowalczyk@…`: shorter words are in too many addresses. */
function emailWith(word: string, payload: unknown): ContactMatch | undefined {
  if (word.length < 4) return undefined
  const emails = textsIn(payload).flatMap(emailsIn)
  const email = emails.find((one) => personOf(one).includes(word))
  return email === undefined ? undefined : { closeness: 'similar', score: 0.4, text: email }
}

/** Matches words in any order, however apostrophes and hyphens divide them. */
function wordMatcher(
  text: string,
  read: (payload: unknown) => readonly string[],
): ContactMatcher | undefined {
  const wanted = wordsOf(text)
  if (wanted.length === 0) return undefined
  return (payload) => {
    let best: ContactMatch | undefined
    for (const written of read(payload)) {
      const match = compareWords(wanted, written)
      if (match !== undefined && match.score > (best?.score ?? 0)) best = match
    }
    return best
  }
}

function compareWords(wanted: readonly string[], written: string): ContactMatch | undefined {
  const words = wordsOf(written)
  if (words.length === 0) return undefined
  const text = written.trim()
  if (wanted.every((word) => words.includes(word)) || hasRun(words, wanted.join('')))
    return { closeness: 'exact', score: 1, text }
  let score = 0
  let letters = 0
  for (const word of wanted) {
    // One or two letters are near to too much, but the same two are the same name.
    if (word.length >= fewestLetters || words.includes(word)) score += word.length * nearness(word, words)
    letters += word.length
  }
  return score === 0 ? undefined : { closeness: 'similar', score: (score / letters) * 0.99, text }
}

const fewestLetters = 3

/** Whether words that stand side by side make this one: `o`, `neill` and `oneill`. */
function hasRun(words: readonly string[], joined: string): boolean {
  return words.some((_, first) => {
    let run = ''
    for (let last = first; last < words.length && run.length < joined.length; last += 1)
      run += words[last] ?? ''
    return run === joined
  })
}

/** 1: the word itself; less: one that begins so, or of which at most a third of the letters differ; 0: none. */
function nearness(word: string, words: readonly string[]): number {
  if (words.includes(word)) return 1
  const longer = words.some((other) => other.startsWith(word) || (other.length > 3 && word.startsWith(other)))
  if (longer) return 0.8
  const differ = (other: string): number => (other.length < 4 ? 0 : Math.min(3, Math.floor(other.length / 3)))
  return nearestName(word, words, differ) === undefined ? 0 : 0.7
}

function withoutTitle(text: string): string {
  const rest = text.replace(/^\s*(?:mrs?|ms|miss|mx|dr|prof|sir|dame|lady|lord|rev)\b\.?\s+/i, '')
  return rest === '' ? text : rest
}

/** Letters that Unicode does not take apart into a letter and its accent. */
const plainLetters: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
  ħ: 'h',
}

/** In lower case, without accents and apostrophes; whatever else is no letter or digit divides. */
function wordsOf(text: string): readonly string[] {
  const folded = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[łøđðþßæœıħ]/g, (letter) => plainLetters[letter] ?? letter)
    .replaceAll(/['‘’ʼ`´]/g, '')
  return folded.match(/[\p{L}\p{N}]+/gu) ?? []
}

function nameOf(payload: unknown): string {
  return textsOf(payload, ['title', 'first_name', 'middle_name', 'last_name', 'suffix']).join(' ')
}

function companyOf(payload: unknown): string {
  return textsOf(payload, ['company_name']).join(' ')
}

/** Every text of a payload, in members of any name: an earlier surname may stand in one that only the agency knows. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

const addressLines = ['display_address', 'house_name_number', 'address_2', 'address_3', 'address_4', 'town']

function addressOf(payload: unknown): string {
  const address = memberOf(payload, 'address')
  return textsOf(address, [...addressLines, 'postcode_1', 'postcode_2']).join(' ')
}

function textsOf(given: unknown, members: readonly string[]): readonly string[] {
  return members.flatMap((member) => memberText(given, member) ?? [])
}

/** Matches one of several parts of any text: `tel:+44 7700 900123 (after 6pm)` has a number in it. */
function partMatcher(
  text: string,
  partsOf: (text: string) => readonly string[],
  isNear: (wanted: string, other: string) => boolean,
): ContactMatcher | undefined {
  const [wanted] = partsOf(text)
  if (wanted === undefined) return undefined
  return (payload) => {
    let near: ContactMatch | undefined
    for (const written of textsIn(payload)) {
      const parts = partsOf(written)
      if (parts.includes(wanted)) return { closeness: 'exact', score: 1, text: written.trim() }
      if (parts.some((part) => isNear(wanted, part)))
        near ??= { closeness: 'similar', score: 0.5, text: written.trim() }
    }
    return near
  }
}

/** In lower case, although the part before the `@` may depend on it: no provider that people use makes a difference. */
function emailsIn(text: string): readonly string[] {
  // Looking for one takes the square of a text's length where there is none.
  if (!text.includes('@')) return []
  const found =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[^\s@<>()[\]"',;:]+@[^\s@<>()[\]"',;:]+/g) ?? []
  return found.map((email) => email.replace(/[.!?]+$/, ''))
}

/** What stands before the `@`, without dots and a `+` tag. */
function personOf(email: string): string {
  return email.replace(/(?:\+[^@]*)?@.*$/s, '').replaceAll(/[._-]/g, '')
}

/** The same name at another provider, with other dots or a `+` tag, or with up to two letters mistyped. */
function isNearEmail(wanted: string, other: string): boolean {
  if (personOf(wanted) === personOf(other) && personOf(wanted).length >= fewestLetters) return true
  return nearestName(wanted, [other], () => 2) !== undefined
}

const fewestDigits = 5

/** The digits of each number, as one dials it within the United Kingdom: `+44 (0)20 7946 0958` is 02079460958. */
function phonesIn(text: string): readonly string[] {
  const written =
    text
      .normalize('NFKC')
      .replaceAll(/\p{Pd}/gu, '-')
      .match(/\+?[\d(][\d\s().-]*\d/g) ?? []
  return written.flatMap((number) => {
    const national = number.replace(/^00/, '+').replace(/^\+\s*44\s*(\(0\))?/, '0')
    const digits = national.replaceAll(/\D/g, '')
    return digits.length < fewestDigits ? [] : [digits]
  })
}

/** One digit mistyped, or without the code of the area or country. */
function isNearPhone(wanted: string, other: string): boolean {
  const [short, long] = wanted.length < other.length ? [wanted, other] : [other, wanted]
  if (short.length >= 6 && long.endsWith(short.replace(/^0/, ''))) return true
  return short.length >= 9 && nearestName(short, [long], () => 1) !== undefined
}
