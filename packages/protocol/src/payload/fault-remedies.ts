/** What to send in place of what is wrong with a payload: the end of a sentence about a fault, which begins with a full stop, or nothing. */
import { feedNames, feeds } from '../feeds.ts'
import { nearestName } from '../nearest-name.ts'
import type { RecordRule, Rule } from './advice-rules.ts'
import type { CodeList } from './code-list.ts'
import { listCodes } from './code-list.ts'
import { showValue } from './describe-value.ts'
import { isRecord } from './member-at.ts'

/** Lists with more codes are not written out. */
const mostCodesListed = 40
/** The same, where the one that was meant is known. */
const mostCodesBeside = 16
/** Longer texts are neither a code nor a number, and are not shown once more. */
const longestText = 40

/** What agents write for a code whose label has other words. */
const otherWords: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  status: {
    forsale: 1,
    tolet: 1,
    onthemarket: 1,
    soldstc: 2,
    soldsubjecttocontract: 2,
    subjecttocontract: 2,
    soldsubjecttoconcludedmissives: 3,
    let: 6,
    letstc: 6,
  },
  'price qualifier': { priceonapplication: 1, offersintheregionof: 5, oieo: 4, offersinexcess: 4 },
  'rent frequency': { pcm: 12, permonth: 12, pw: 52, perweek: 52, pa: 1, perannum: 1, annually: 1 },
}

/**
 * For a value of a type that is not allowed.
 *
 * @param types The allowed ones, as JSON Schema names them.
 * @param codes The list, where a code belongs here.
 */
export function typeRemedy(
  value: unknown,
  types: readonly string[],
  codes: CodeList<number | string> | undefined,
): string {
  const isSimple = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  if (types.includes('array') && isSimple) {
    const one = codes === undefined ? value : (codeMeantBy(value, codes) ?? value)
    return isShort(one) ? `. Send a list, even of one: [${showValue(one)}]` : '. Send a list, even of one'
  }
  if (types.includes('array') && isRecord(value)) return '. Send a list, even of one: [{…}]'
  if (types.includes('boolean')) return booleanRemedy(value)
  if (types.includes('string')) return typeof value === 'number' ? `. Send it as text: "${value}"` : ''
  if (!types.includes('number') && !types.includes('integer')) return ''
  if (codes !== undefined) return codeRemedy(value, codes)
  if (typeof value !== 'string') return ''
  const number = numberIn(value)
  if (number === undefined || (!types.includes('number') && !Number.isInteger(number))) {
    return '. Send a number in digits, without quotes; or null if there is none'
  }
  return `. Send ${number}, without quotes`
}

/** The same for personal data: nothing of the value. */
export function kindRemedy(value: unknown, types: readonly string[]): string {
  if (types.includes('array')) return Array.isArray(value) ? '' : '. Send a list, even of one'
  if (types.includes('boolean')) return '. Send true or false, without quotes'
  return types.includes('string') && typeof value === 'number' ? '. Send it as text, in quotes' : ''
}

/** For a code in other words, or one that is no number. */
function codeRemedy(value: unknown, codes: CodeList<number | string>): string {
  const code = codeMeantBy(value, codes)
  if (code !== undefined) {
    const others = codes.codes.length > mostCodesBeside ? '' : `; all codes: ${listCodes(codes)}`
    return `. Send ${code}, the code of ${showValue(codes.labels.get(code))}${others}`
  }
  const some = typeof value === 'string' && value.length <= longestText ? codesWith(value, codes) : []
  const shown = some.length > 0 ? some : codes.codes
  if (shown.length > mostCodesListed) return `. Send the number of the ${codes.name}; the codes are in /docs`
  return `. Send the number of the ${codes.name}: ${listCodes({ codes: shown })}`
}

/** Codes whose labels have the text in them: `Detached` begins several types of property. */
function codesWith(text: string, { codes }: CodeList<number | string>): CodeList<number | string>['codes'] {
  const letters = lettersOf(text)
  // A word of another language, such as Welsh, has other letters, and those that are left would match by chance.
  if (letters.length < 3 || /[^\p{ASCII}]/u.test(text)) return []
  return codes.filter(({ label }) => lettersOf(label).includes(letters)).slice(0, mostCodesListed)
}

function codeMeantBy(value: unknown, { name, codes, labels }: CodeList<number | string>) {
  if (typeof value !== 'string' || value.length > longestText) return undefined
  const asNumber = numberIn(value)
  if (asNumber !== undefined) return labels.has(asNumber) ? asNumber : undefined
  const letters = lettersOf(value)
  const other = otherWords[name]?.[letters]
  if (other !== undefined) return other
  const meant = nearestName(
    letters,
    codes.map(({ label }) => lettersOf(label)),
    ({ length }) => (length < 8 ? 0 : 1),
  )
  return codes.find(({ label }) => lettersOf(label) === meant)?.code
}

const yes: readonly unknown[] = ['true', 'yes', 'y', '1', 'on', 1]
const no: readonly unknown[] = ['false', 'no', 'n', '0', 'off', 0]

function booleanRemedy(value: unknown): string {
  const word = typeof value === 'string' ? value.toLowerCase() : value
  const meant = yes.includes(word) ? 'true' : no.includes(word) ? 'false' : undefined
  return meant === undefined ? '' : `. Send ${meant}, without quotes`
}

/** The number in a text such as `£1,250,000` or `950.50 pcm`; `undefined` if the text has none or is not short. */
function numberIn(text: string): number | undefined {
  if (text.length > longestText) return undefined
  const [, digits] =
    /^(?:£|GBP)? ?(\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d{1,15}(?:\.\d{1,6})?)(?: ?(?:pcm|pw|pa|GBP))?$/i.exec(
      text.trim(),
    ) ?? []
  return digits === undefined ? undefined : Number(digits.replaceAll(',', ''))
}

/** For a member that must be there: it may be spelled in another way, or the payload may be one of another feed. */
export function missingRemedy(
  name: string,
  object: Readonly<Record<string, unknown>>,
  known: readonly string[],
): string {
  for (const feed of feedNames) {
    const { subjectField, publishPath } = feeds[feed]
    if (name === subjectField || !feedNames.some((other) => feeds[other].subjectField === name)) continue
    if (spelledAs(subjectField, Object.keys(object)) !== undefined) {
      return `. This looks like a ${feed}: publish it with POST ${publishPath}`
    }
  }
  const written = spelledAs(
    name,
    Object.keys(object).filter((one) => !known.includes(one)),
  )
  return written === undefined ? '' : `. ${showValue(written)} was sent: did you mean ${name}?`
}

/** The one of the names that is this one with other separators, in another case, or with a wrong letter. */
export function spelledAs(name: string, among: readonly string[]): string | undefined {
  const letters = lettersOf(name)
  return (
    among.find((one) => one === name) ??
    among.slice(0, mostNames).find((one) => nearestName(lettersOf(one), [letters], () => 1) !== undefined)
  )
}

/** An event can have thousands of members, and each takes a moment to compare. */
const mostNames = 200

function lettersOf(text: string): string {
  return text
    .slice(0, 101)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

/** The list that a value at a pointer of a payload, or each item of it, should be a code of. */
export function codesAt(rules: RecordRule, pointer: string): CodeList<number | string> | undefined {
  let current: Rule | undefined = rules
  for (const name of pointer.split('/').slice(1)) {
    if (current?.kind === 'record') current = current.members.find(([member]) => member === name)?.[1]
    else current = current?.kind === 'list' ? current.item : undefined
  }
  if (current?.kind === 'list') current = current.item
  return current?.kind === 'value' ? current.codes : undefined
}

/** Names what an object consists of, where something else was sent. */
export function membersRemedy(value: unknown, members: readonly string[]): string {
  if (isRecord(value) || members.length === 0) return ''
  const [shown, more] = [members.slice(0, 8), members.length > 8 ? ' and others' : '']
  return `. Send an object of its parts: ${shown.join(', ')}${more}`
}

function isShort(value: unknown): boolean {
  return typeof value !== 'string' || value.length <= longestText
}
