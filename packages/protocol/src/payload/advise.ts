import type { Category } from '../feeds.ts'
import type { Complaint, ListRule, PayloadAdviceCode, RecordRule, Rule, Show } from './advice-rules.ts'
import { contactAdvice } from './contact-advice.ts'
import { nameKind, showValue } from './describe-value.ts'
import { isRecord, memberAt } from './member-at.ts'
import { propertyAdvice } from './property-advice.ts'
import { isShownAddress } from './web-address.ts'
import { saysSomething } from './category.ts'
import { statuses } from './codes.ts'

/** A remark about a payload that fulfils its contract and is stored as it is. */
export interface PayloadAdvice {
  /** Where, as an RFC 6901 pointer into the payload, such as `/address/postcode_1`. */
  readonly pointer: string
  /** All places, the first of them being `pointer`, where one remark is about several. */
  readonly pointers?: readonly string[]
  readonly code: PayloadAdviceCode
  /** What is expected and what was sent. Never holds a value of a contact payload. */
  readonly message: string
}

/** The most remarks about one payload. */
export const maxAdvice = 50

/**
 * Unknown codes, lengths and ranges beyond RTDF's, dates that do not exist and the like: at most 50 remarks. One pass
 * over the known fields: 110,000 payloads of 5.2 kB with ten media a second on one core (measured manually).
 *
 * @param payload One that `checkPropertyPayload` has no faults with; a value that is not an object gets no advice.
 * @param category As sent with the event or implied by the payload (D23). `undefined`: neither says, and there are no
 * remarks that depend on it.
 */
export function adviseProperty(payload: unknown, category: Category | undefined): PayloadAdvice[] {
  const notes: Notes = { advice: [], show: showValue }
  visitRecord(notes, propertyAdvice, payload, '')
  if (category !== undefined) {
    for (const [pointer, complaint] of categoryComplaints(payload, category)) note(notes, pointer, complaint)
  }
  return notes.advice
}

/**
 * Unknown codes, e-mail addresses and numbers that look wrong, dates that do not exist and the like: at most 50
 * remarks. Messages never repeat a value, which is personal data (D18).
 *
 * @param payload One that `checkContactPayload` has no faults with; a value that is not an object gets no advice.
 */
export function adviseContact(payload: unknown): PayloadAdvice[] {
  const notes: Notes = { advice: [], show: nameKind }
  visitRecord(notes, contactAdvice, payload, '')
  return notes.advice
}

interface Notes {
  readonly advice: PayloadAdvice[]
  readonly show: Show
}

function note(notes: Notes, pointer: string, { code, message }: Complaint): void {
  if (notes.advice.length >= maxAdvice) return
  notes.advice.push({ pointer, code, message: `${pointer.slice(1)} ${message}.` })
}

function visit(notes: Notes, rule: Rule, value: unknown, parent: string, name: string | number): void {
  if (value === undefined || value === null) return
  if (rule.kind === 'value') {
    const complaint = rule.check(value, notes.show)
    if (complaint !== undefined) note(notes, `${parent}/${name}`, complaint)
  } else if (rule.kind === 'record') visitRecord(notes, rule, value, `${parent}/${name}`)
  else if (Array.isArray(value) && value.length > 0) visitList(notes, rule, value, `${parent}/${name}`)
}

function visitRecord(notes: Notes, rule: RecordRule, value: unknown, pointer: string): void {
  if (!isRecord(value)) return
  for (const [name, member] of rule.members) visit(notes, member, value[name], pointer, name)
  if (rule.together === undefined) return
  for (const [name, complaint] of rule.together(value, notes.show)) {
    note(notes, `${pointer}/${name}`, complaint)
  }
}

function visitList(notes: Notes, rule: ListRule, items: readonly unknown[], pointer: string): void {
  if (items.length > rule.maxItems) {
    const message = `should have at most ${rule.maxItems} items; ${items.length} were sent`
    note(notes, pointer, { code: 'too_many_items', message })
  }
  const identities = rule.identity && items.map(rule.identity)
  // Most lists are so short that looking at the items before one costs less than a set of them.
  const seen = identities !== undefined && items.length > shortList ? new Set<unknown>() : undefined
  for (const [index, item] of items.entries()) {
    if (notes.advice.length >= maxAdvice) return
    if (rule.item !== undefined) visit(notes, rule.item, item, pointer, index)
    const own = identities?.[index]
    if (identities === undefined || own === undefined) continue
    const isRepeated = seen === undefined ? identities.indexOf(own) < index : seen.has(own)
    if (isRepeated) note(notes, `${pointer}/${index}`, repeated)
    seen?.add(own)
  }
}

const shortList = 10
const repeated: Complaint = { code: 'repeated_item', message: 'repeats an earlier item' }

/** `media_type` of a photograph. */
const photograph = 1

/** What consumers need of a published property, beyond the contract. */
export function adviseShown(payload: unknown): readonly PayloadAdvice[] {
  const advice: PayloadAdvice[] = []
  const price = memberAt(payload, ['price_information', 'price'])
  if (price === undefined || price === null) {
    const message =
      'price_information/price should be present while the property is published: a known importer stops if it is missing.'
    advice.push({ pointer: '/price_information/price', code: 'missing_price', message })
  }
  if (!hasPhotograph(memberAt(payload, ['media']))) {
    const message = `media has no photograph (media_type ${photograph} with a media_url) that is shown, and the property is published.`
    advice.push({ pointer: '/media', code: 'no_photographs', message })
  }
  return advice
}

function hasPhotograph(media: unknown): boolean {
  return Array.isArray(media) && media.some((item) => isRecord(item) && isPhotograph(item))
}

function isPhotograph({ media_type: type, media_url: address }: Readonly<Record<string, unknown>>): boolean {
  return type === photograph && typeof address === 'string' && isShownAddress(address)
}

/**
 * Fields that belong to one category. Tenure, ground rent and service charge are RTDF's sales fields too, but flats to
 * let have them as well and many systems send them: a warning would be noise.
 */
const categoryFields: readonly (readonly [Category, readonly string[]])[] = [
  ['sales', ['price_information', 'auction']],
  ['sales', ['price_information', 'shared_ownership']],
  ['lettings', ['price_information', 'rent_frequency']],
  ['lettings', ['price_information', 'deposit']],
  ['lettings', ['contract_months']],
  ['lettings', ['minimum_term']],
  ['lettings', ['let_type']],
  ['lettings', ['student_property']],
  ['lettings', ['house_flat_share']],
  ['lettings', ['details', 'furnished_type']],
  ['lettings', ['details', 'deposit_replacement_scheme']],
]

/** Statuses on which RTDF and the readers of this contract agree; they differ about 4 and 5. */
const categoryStatuses: ReadonlyMap<unknown, readonly [Category, number]> = new Map<
  unknown,
  readonly [Category, number]
>([
  [2, ['sales', 2]],
  [3, ['sales', 3]],
  [6, ['lettings', 6]],
])

/** The members of a payload that belong to the other category: pairs of pointer and complaint. */
function categoryComplaints(payload: unknown, category: Category): readonly (readonly [string, Complaint])[] {
  const complaints: (readonly [string, Complaint])[] = []
  const [statusCategory, status] = categoryStatuses.get(memberAt(payload, ['status'])) ?? [category, 0]
  if (statusCategory !== category) {
    complaints.push(['/status', complaint(statusCategory, `${status} (${statuses.labels.get(status)})`)])
  }
  for (const [only, path] of categoryFields) {
    if (only !== category && saysSomething(memberAt(payload, path))) {
      complaints.push([`/${path.join('/')}`, complaint(only, 'set')])
    }
  }
  return complaints
}

function complaint(only: Category, set: string): Complaint {
  const message = `is ${set}, which is for ${only} only, and this property is in ${only === 'sales' ? 'lettings' : 'sales'}`
  return { code: only === 'sales' ? 'sales_only' : 'lettings_only', message }
}
