/** Fields of a property payload by the names that people use. */
import { propertyCodeLists } from '@property-events/client/listing'
import type { CodeListName } from '@property-events/client/listing'
import { oneLine } from '../../../words/plain.ts'

/** For fields whose own name says too little or too much. */
const labels: Readonly<Record<string, string>> = {
  '/price_information/price': 'price',
  '/statusstring': 'status text',
  '/property_type': 'type',
  '/branch_id': 'branch',
  '/details/description': 'description',
  '/address/postcode_1': 'postcode, outward part',
  '/address/postcode_2': 'postcode, inward part',
  '/address/address_2': 'address, second line',
  '/address/address_3': 'address, third line',
  '/address/address_4': 'address, fourth line',
  '/media': 'media',
  '/media/*/media_update_date': 'file',
  '/media/*/media_url': 'address',
}

/** Groups whose names add nothing to the field's name. */
const silentGroups: readonly string[] = ['/price_information', '/details', '/address', '/risks']

const longestLabel = 100

/**
 * `price`, `bedrooms`, `EPC information, current energy rating`; fields outside the contract by their path. `within`: the pointer to the
 * field's item, which has been named already.
 */
export function labelOf(pointer: string, within = ''): string {
  const pattern = patternOf(pointer)
  const known = labels[pattern]
  if (known !== undefined) return known
  if (pointer === within) return pointer === '' ? 'the whole payload' : 'all of it'
  const group = within === '' ? silentGroups.find((one) => pattern.startsWith(`${one}/`)) : within
  const names = pointer.slice((group?.length ?? 0) + 1).split('/')
  const words = names.map((name) => wordsOf(unescapePart(name)))
  return oneLine(words.join(', '), longestLabel)
}

/** The list that the codes of a field are of. */
export function codeListOf(pointer: string): CodeListName | undefined {
  const lists: Readonly<Record<string, CodeListName>> = propertyCodeLists
  const pattern = patternOf(pointer)
  return Object.hasOwn(lists, pattern) ? lists[pattern] : undefined
}

/** Fields in pounds, which are shown with commas. */
export function isMoney(pointer: string): boolean {
  return /^\/price_information\/(?:price|deposit|.*_(?:rent|charge))$/.test(pointer)
}

/** Changes that readers look for, in this order. All others follow in the order of the payload. */
const first: readonly string[] = [
  '/published',
  '/price_information/price',
  '/price_information/price_qualifier',
  '/status',
  '/address/display_address',
  '/details/summary',
  '/details/description',
  '/media',
]

/** Fields that change with every event and say nothing. */
const last: readonly string[] = ['/statusstring', '/update_date', '/create_date']

/** The less, the earlier. */
export function rankOf(pointer: string): number {
  const rank = first.indexOf(pointer)
  if (rank >= 0) return rank
  return last.includes(pointer) ? first.length + 1 : first.length
}

export function join(pointer: string, name: string | number): string {
  return `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The names in a pointer. */
export function partsOf(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(unescapePart)
}

function unescapePart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** With `*` in place of each number, as the lists of codes name their fields. */
function patternOf(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')
}

function wordsOf(name: string): string {
  return name.replaceAll('_', ' ').trim() || '(no name)'
}
