/** Whether a contact's payload has exactly an e-mail address, a telephone number or a name, in any spelling. */
import { memberOf, memberText } from '@property-events/protocol'

export const searchKinds = ['email', 'phone', 'name'] as const
export type SearchKind = (typeof searchKinds)[number]

export type ContactMatch = (payload: unknown) => boolean

/** `undefined`: the text cannot be of this kind. */
export function contactMatch(kind: SearchKind, text: string): ContactMatch | undefined {
  if (kind === 'name') {
    const name = plainName(text)
    return name === '' ? undefined : (payload) => namesOf(payload).includes(name)
  }
  const wanted = kind === 'email' ? plainEmail(text) : plainPhone(text)
  if (wanted === undefined) return undefined
  const read = kind === 'email' ? plainEmail : plainPhone
  return (payload) => waysOf(payload).some((value) => read(value) === wanted)
}

/** In lower case, although the part before the `@` may depend on it: no provider that people use makes a difference. */
function plainEmail(text: string): string | undefined {
  const email = text.trim().normalize('NFKC').toLowerCase()
  return /^[^\s@]+@[^\s@]+$/.test(email) ? email : undefined
}

const fewestDigits = 5

/** Its digits, as one dials them within the United Kingdom: `+44 (0)20 7946 0958` is 02079460958. */
function plainPhone(text: string): string | undefined {
  const written = text
    .trim()
    .replace(/^00/, '+')
    .replace(/^\+\s*44\s*(\(0\))?/, '0')
  if (!/^\+?[\d\s()./-]+$/.test(written)) return undefined
  const digits = written.replaceAll(/\D/g, '')
  return digits.length < fewestDigits ? undefined : digits
}

/** Without regard to case, accents, the kind of apostrophe, and how many blanks. */
function plainName(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[‘’ʼ`]/g, "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** The name in the forms in which somebody may search for it. */
function namesOf(payload: unknown): readonly string[] {
  const part = (name: string) => memberText(payload, name) ?? ''
  const [title, first, middle, last] = ['title', 'first_name', 'middle_name', 'last_name'].map(part)
  const forms = [
    [first, last],
    [first, middle, last],
    [title, first, last],
    [title, first, middle, last],
    [title, last],
    [part('company_name')],
  ]
  return forms.map((words) => plainName(words.join(' ')))
}

function waysOf(payload: unknown): readonly string[] {
  const ways = memberOf(payload, 'communications')
  if (!Array.isArray(ways)) return []
  return ways.flatMap((way) => memberText(way, 'value') ?? [])
}
