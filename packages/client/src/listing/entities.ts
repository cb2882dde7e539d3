/** Character references of HTML, which agencies' programs write in place of characters. PHP has the same rules. */
import { allNames, oldNames } from './entity-names.ts'

/** Names that stand inside of words: `caf&eacutes`. Others without a semicolon end at a letter: `&central heating` has no `&cent`. */
const insideWords = /^(?:nbsp|quot|[A-Za-z]{1,2}(?:acute|grave|circ|uml|tilde|ring|cedil|slash|lig))$/
const longestOldName = 6

/** What Windows has at 128 to 159, where there are only control characters otherwise. A blank: nothing. */
export const windows = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'

const reference =
  /&((?:amp;){0,9})(?:#(\d+)(;?)|#[xX]([0-9A-Fa-f]+)(;?)|([A-Za-z][A-Za-z0-9]{1,30})(;?))(?=(=?))|[\u0080-\u009f]/g

/** Control characters, and those that turn the direction of the text around them. 128 to 159 are read as those of Windows. */
// oxlint-disable-next-line no-control-regex -- They are what is taken out.
const unseen = /[\u0000-\u0008\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g
/** `<` and `>`, escaped or not: parts of expressions. */
export const escapedLess = '&(?:amp;){0,9}(?:lt|#0*60|#x0*3c);'
export const anyMore = '(?:>|&(?:amp;){0,9}(?:gt|#0*62|#x0*3e);)'
const characterData = new RegExp(`(?:<|${escapedLess})!\\[CDATA\\[([^]*?)(?:\\]\\]${anyMore}|$)`, 'gi')

/** What has to become a single blank, without those that are one: a text has hundreds of them. */
export const otherBlanks = /\s{2,}|[^\S ]/g

/** The text without what nobody sees, and what stands in `<![CDATA[…]]>` without that. */
export function unwrap(text: string): string {
  return text.replaceAll(unseen, '').replaceAll(characterData, '$1')
}

/** A text of one line, such as a line of an address. */
export function plainText(text: string | null | undefined): string {
  return decodeEntities(unwrap(text ?? ''))
    .replaceAll(otherBlanks, ' ')
    .trim()
}

/**
 * `&pound;`, `&pound`, `&#163;` and `&#xA3;` are `£`, also if they were escaped once more (`&amp;pound;`). What is no reference stays as
 * it was written. References to characters that nobody sees are left out.
 */
export function decodeEntities(text: string): string {
  return text.replaceAll(reference, (whole, ...groups) => {
    const [again, decimal, decimalEnd, hexadecimal, hexadecimalEnd, name, nameEnd, equals]: readonly (
      | string
      | undefined
    )[] = groups
    if (again === undefined) return characterAt(whole.charCodeAt(0))
    const end = decimalEnd ?? hexadecimalEnd ?? nameEnd ?? ''
    const isSure = end !== '' && (name === undefined || allNames.has(name))
    if (again !== '' && !isSure) return `&${whole.slice('&amp;'.length)}`
    if (decimal !== undefined) return characterAt(Number(decimal))
    if (hexadecimal !== undefined) return characterAt(Number.parseInt(hexadecimal, 16))
    if (name !== undefined && isSure) return allNames.get(name) ?? whole
    return decodeBegin(name ?? '', end, equals === '=') ?? whole
  })
}

/** `isAssigned`: as in `?a=1&copy=2`, which is no reference. */
function decodeBegin(name: string, end: string, isAssigned: boolean): string | undefined {
  for (let length = Math.min(name.length, longestOldName); length > 1; length -= 1) {
    const begin = name.slice(0, length)
    const character = oldNames.get(begin)
    if (character === undefined) continue
    const next = name.charAt(length)
    const isWhole = next === '' ? !isAssigned : /\d/.test(next)
    return isWhole || insideWords.test(begin) ? character + name.slice(length) + end : undefined
  }
  return undefined
}

/** As HTML reads the number of a character; empty if nobody sees it. */
function characterAt(point: number): string {
  const isHalf = point >= 0xd800 && point <= 0xdfff
  if (point === 0 || isHalf || point > 0x10ffff) return '\ufffd'
  if (point >= 0x80 && point < 0xa0) return windows.charAt(point - 0x80).trim()
  const character = String.fromCodePoint(point)
  return character.replaceAll(unseen, '')
}
