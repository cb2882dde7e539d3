/** A value of a payload as a short text. */
import { nameOf } from '@property-events/client/listing'
import { countText } from '../../../words/numbers.ts'
import { oneLine } from '../../../words/plain.ts'
import { codeListOf, isMoney } from './labels.ts'
import { readableText } from './readable-text.ts'

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
