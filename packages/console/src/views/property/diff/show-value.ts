/** A value of a payload as a short text. */
import { nameOf } from '@property-events/client/listing'
import { countText } from '../../../words/numbers.ts'
import { oneLine } from '../../../words/plain.ts'
import { codeListOf, isMoney } from './labels.ts'

/** The most characters of a value to show. */
export const longestShown = 200

/** Null for a value that says nothing: absent and null mean the same (spec §2.3). */
export function showValue(value: unknown, pointer: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return showNumber(value, pointer)
  if (typeof value === 'string') return codeName(value, pointer) ?? showText(value, pointer)
  return oneLine(preview(value), longestShown)
}

function showNumber(value: number, pointer: string): string {
  const name = codeName(value, pointer)
  if (name !== undefined) return name
  if (!isMoney(pointer) || !Number.isFinite(value) || Math.abs(value) >= 1e15) return String(value)
  const [whole = '', fraction] = String(Math.abs(value)).split('.')
  const shown = countText(Number(whole)) + (fraction === undefined ? '' : `.${fraction.padEnd(2, '0')}`)
  return value < 0 ? `−${shown}` : shown
}

/** Texts of a description contain HTML. */
function showText(text: string, pointer: string): string {
  const isMarkup = /^\/details\/|description$/.test(pointer)
  const line = oneLine(isMarkup ? readableText(text.slice(0, 4_000)) : text, longestShown)
  return line === '' ? '(empty)' : line
}

function codeName(code: number | string, pointer: string): string | undefined {
  const list = codeListOf(pointer)
  return list === undefined ? undefined : nameOf(list, code)
}

/** JSON of the first few hundred characters, without reading the rest: values can be a megabyte, and nested without limit. */
function preview(value: unknown): string {
  const rest = { characters: longestShown * 2 }
  return write(value, 0, rest)
}

const deepestShown = 4

function write(value: unknown, depth: number, rest: { characters: number }): string {
  if (rest.characters <= 0) return '…'
  if (typeof value === 'string') return spend(JSON.stringify(value.slice(0, longestShown)), rest)
  if (typeof value !== 'object' || value === null) return spend(String(value), rest)
  if (depth === deepestShown) return spend(Array.isArray(value) ? '[…]' : '{…}', rest)
  const parts: string[] = []
  if (Array.isArray(value)) {
    for (const item of value) if (!add(parts, () => write(item, depth + 1, rest), rest)) break
    return `[${parts.join(', ')}]`
  }
  for (const name in value) {
    const member: unknown = Reflect.get(value, name)
    const text = () => `${oneLine(name, 60)}: ${write(member, depth + 1, rest)}`
    if (!add(parts, text, rest)) break
  }
  return `{${parts.join(', ')}}`
}

/** False: there was no room, and nothing more is written. */
function add(parts: string[], text: () => string, rest: { characters: number }): boolean {
  if (rest.characters <= 0) {
    parts.push('…')
    return false
  }
  parts.push(spend(text(), rest))
  return true
}

function spend(text: string, rest: { characters: number }): string {
  rest.characters -= text.length + 2
  return text
}

/** Texts that contain HTML, as whoever reads the page sees them. */

const characters: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  pound: '£',
  euro: '€',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  hellip: '…',
  bull: '•',
  eacute: 'é',
  sup2: '²',
}

/** Line breaks are blanks, other markup is left out, and `&pound;` is `£`. What is neither markup nor a known reference stays. */
export function readableText(text: string): string {
  return text
    .replaceAll(/<\/?(?:br|p|div|li|ul|ol|tr|h\d)\b[^<>]{0,300}>/gi, ' ')
    .replaceAll(/<\/?[a-z][^<>]{0,300}>/gi, '')
    .replaceAll(
      /&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z\d]{2,8}));/gi,
      (whole, decimal, hexadecimal, name) =>
        characterOf(String(decimal ?? ''), String(hexadecimal ?? ''), String(name ?? '')) ?? whole,
    )
}

function characterOf(decimal: string, hexadecimal: string, name: string): string | undefined {
  if (name !== '') return Object.hasOwn(characters, name) ? characters[name] : undefined
  const code = decimal === '' ? Number.parseInt(hexadecimal, 16) : Number(decimal)
  return code >= 32 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}
