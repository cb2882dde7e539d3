/**
 * Duties by law that bear on what an advert says, as data. They are advice like all other: a warning in the receipt, and never a refusal. That
 * none is given does not say that an advert is lawful.
 */
import type { Category } from '../../feeds.ts'
import type { DutyCode } from '../advice-rules.ts'
import type { PayloadAdvice } from '../advise.ts'
import { saysSomething } from '../category.ts'
import { priceQualifiers, rentFrequencies } from '../codes.ts'
import { excludingPassages } from './excluding-words.ts'
import { materialPointers, unstatedOf } from './material-information.ts'
import { isRecord, memberAt } from '../member-at.ts'
import { nations, nationsOf } from './postcode-nations.ts'
import type { Nation } from './postcode-nations.ts'
import { isNoFixedRent } from './rent-wording.ts'

/** One duty. */
export interface Duty {
  readonly code: DutyCode
  readonly nations: readonly Nation[]
  /** `undefined`: of sales and lettings. */
  readonly category: Category | undefined
  /** Midnight in London, as an instant. */
  readonly inForceFrom: string
  /** Where the law can be read. */
  readonly source: string
  /** Where in a payload it is looked for. */
  readonly pointers: readonly string[]
  /** What an advert has to say or must not say. */
  readonly sentence: string
  /** The places in a payload that do not fit it. */
  find(advert: Advert): readonly Finding[]
}

interface Advert {
  readonly payload: unknown
  readonly category: Category | undefined
  readonly isHome: boolean
}

interface Finding {
  readonly pointer: string
  /** Further places, if one warning is about several; the first is `pointer`. */
  readonly pointers?: readonly string[]
  /** What was sent, as the end of a sentence that begins with the place. */
  readonly sent: string
  /** What to do, in a sentence. */
  readonly remedy: string
}

const england: readonly Nation[] = ['England']
const rentersRights = {
  nations: england,
  category: 'lettings',
  inForceFrom: '2026-05-01T00:00:00+01:00',
} as const
const textPointers = [
  '/details/summary',
  '/details/description',
  '/details/features',
  '/details/rooms',
  '/price_information/price_qualifier_string',
  '/price_information/administration_fee',
]

/** All duties, in the order in which warnings are given. */
export const duties: readonly Duty[] = [
  {
    ...rentersRights,
    code: 'rent_not_specific',
    source: "Renters' Rights Act 2025, section 56",
    pointers: ['price', 'rent_frequency', 'price_qualifier', 'price_qualifier_string'].map(moneyPointer),
    sentence:
      'A written advert of a home to let states one rent: no range, and nothing that invites a higher offer',
    find: rentFindings,
  },
  {
    ...rentersRights,
    code: 'rent_period_too_long',
    source: "Renters' Rights Act 2025, section 1",
    pointers: [moneyPointer('rent_frequency')],
    sentence: 'The rent of an assured tenancy is for a month at most',
    find: periodFindings,
  },
  {
    ...rentersRights,
    code: 'fixed_term_advertised',
    source: "Renters' Rights Act 2025, section 1",
    pointers: ['/contract_months', '/minimum_term'],
    sentence: 'An assured tenancy has no fixed term',
    find: termFindings,
  },
  {
    ...rentersRights,
    code: 'tenant_excluded',
    source: "Renters' Rights Act 2025, part 1, on discrimination",
    pointers: ['/details/housing_benefit_considered', ...textPointers],
    sentence: 'An advert does not shut out people who have children or are on benefits',
    find: exclusionFindings,
  },
  {
    code: 'material_information',
    nations,
    category: undefined,
    inForceFrom: '2025-04-06T00:00:00+01:00',
    source: 'Digital Markets, Competition and Consumers Act 2024, part 4',
    pointers: materialPointers,
    sentence: 'An advert to consumers does not leave out material information',
    find: unstatedFindings,
  },
]

/** What decides beside the payload which duties apply. */
export interface DutyCircumstances {
  /** As sent with the event or implied by the payload (D23); `undefined`: neither says. */
  readonly category: Category | undefined
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/**
 * The duties that a published property does not fit, as far as its payload shows: rents of a letting, wording that shuts people out, what is
 * not stated. None for commercial property, and none outside the United Kingdom.
 *
 * @param payload One that `checkPropertyPayload` has no faults with.
 */
export function adviseDuties(
  payload: unknown,
  { category, nowMs }: DutyCircumstances,
): readonly PayloadAdvice[] {
  if (!isRecord(payload) || isCommercial(payload)) return []
  const outward = memberAt(payload, ['address', 'postcode_1'])
  const places = nationsOf(outward)
  const advert: Advert = { payload, category, isHome: isHomeOf(payload) }
  const advice: PayloadAdvice[] = []
  for (const duty of datedDuties) {
    if (nowMs < duty.fromMs || (duty.category !== undefined && duty.category !== category)) continue
    if (places !== undefined && !places.some((nation) => duty.nations.includes(nation))) continue
    const findings = duty.find(advert)
    if (findings.length === 0) continue
    const condition = conditionOf(duty, outward, places)
    for (const finding of findings) advice.push(adviceOf(duty, condition, finding))
  }
  return advice
}

const months = 'January February March April May June July August September October November December'.split(
  ' ',
)

function dayOf(instant: string): string {
  const [year = '', month = '', day = ''] = instant.slice(0, 10).split('-')
  return `${Number(day)} ${months[Number(month) - 1]} ${year}`
}

interface DatedDuty extends Duty {
  readonly fromMs: number
  /** In words of the sentence: where it can be read and since when it is in force. */
  readonly law: string
}

const datedDuties: readonly DatedDuty[] = duties.map((duty) => ({
  ...duty,
  fromMs: Date.parse(duty.inForceFrom),
  law: `${duty.sentence} (${duty.source}; in force from ${dayOf(duty.inForceFrom)})`,
}))

function adviceOf(duty: DatedDuty, condition: string, finding: Finding): PayloadAdvice {
  const { pointer, pointers, sent, remedy } = finding
  const statement = pointers === undefined ? sent : `Not stated: ${sent}`
  const place = pointers === undefined ? `${pointer.slice(1)} ` : ''
  return {
    pointer,
    ...(pointers === undefined ? {} : { pointers }),
    code: duty.code,
    message: `${condition}${place}${statement}. ${duty.law}. ${remedy}.`,
  }
}

/** Said when the postcode does not decide whether the duty applies. */
function conditionOf(duty: Duty, outward: unknown, places: readonly Nation[] | undefined): string {
  const isCertain = places?.every((nation) => duty.nations.includes(nation)) ?? duty.nations === nations
  if (isCertain) return ''
  const where = duty.nations.join(' or ')
  if (places !== undefined) return `If it is in ${where}: `
  const isSent = typeof outward === 'string' && outward.trim() !== ''
  return isSent
    ? `The postcode does not show the nation; if it is in ${where}: `
    : `No postcode was sent, so the nation is not known; if it is in ${where}: `
}

/** Codes of `property_type` for premises of businesses, and of what nobody lives in. */
const commercialTypes = new Set<unknown>([80, 83, 86, 92, 134, 137, 535, 538, 541, 544, 547, 550])
const notHomes = new Set<unknown>([20, 45, 51, 77, 107, 110])
const commercialLet = 4

/** False for premises of businesses, land and parking. */
export function isHome(payload: unknown): boolean {
  return isRecord(payload) && !isCommercial(payload) && isHomeOf(payload)
}

function isHomeOf({ property_type: type }: Readonly<Record<string, unknown>>): boolean {
  return !notHomes.has(type)
}

function isCommercial({
  property_type: type,
  let_type: letType,
}: Readonly<Record<string, unknown>>): boolean {
  if (letType === commercialLet || commercialTypes.has(type)) return true
  return typeof type === 'number' && type >= 178 && type <= 310
}

function moneyPointer(member: string): string {
  return `/price_information/${member}`
}

function moneyOf({ payload }: Advert, member: string): unknown {
  return memberAt(payload, ['price_information', member])
}

/** POA, Guide Price, Offers in excess of, OIRO, Sale by Tender, From, Offers over, Offers Invited. */
const noFixedSum = new Set<unknown>([1, 2, 4, 5, 6, 7, 10, 15])

function rentFindings(advert: Advert): readonly Finding[] {
  if (!advert.isHome) return []
  const findings: Finding[] = []
  const find = (member: string, sent: string, remedy: string) =>
    findings.push({ pointer: moneyPointer(member), sent, remedy })
  const qualifier = moneyOf(advert, 'price_qualifier')
  const words = moneyOf(advert, 'price_qualifier_string')
  if (!saysSomething(moneyOf(advert, 'price'))) find('price', 'does not state a rent', 'Send the rent')
  if (!saysSomething(moneyOf(advert, 'rent_frequency'))) {
    find(
      'rent_frequency',
      'does not say for what time the rent is',
      'Send 12 for a month, 52 for a week or 365 for a day',
    )
  }
  if (typeof qualifier === 'number' && noFixedSum.has(qualifier)) {
    const sent = `is ${qualifier} (${priceQualifiers.labels.get(qualifier)}), which is not one rent`
    find('price_qualifier', sent, 'Send 0 or leave it out')
  }
  if (typeof words === 'string' && isNoFixedRent(words)) {
    find(
      'price_qualifier_string',
      `is "${words.trim().slice(0, 60)}", which is not one rent`,
      'Send one rent',
    )
  }
  return findings
}

const longPeriods = new Set<unknown>([1, 4])

function periodFindings(advert: Advert): readonly Finding[] {
  const frequency = moneyOf(advert, 'rent_frequency')
  if (!advert.isHome || typeof frequency !== 'number' || !longPeriods.has(frequency)) return []
  const sent = `is ${frequency} (${rentFrequencies.labels.get(frequency)})`
  return [
    { pointer: moneyPointer('rent_frequency'), sent, remedy: 'Send the rent of a month (12) or a week (52)' },
  ]
}

function termFindings({ payload, isHome }: Advert): readonly Finding[] {
  if (!isHome) return []
  return ['contract_months', 'minimum_term'].flatMap((name) => {
    const value = memberAt(payload, [name])
    if (typeof value !== 'number' || value <= 0) return []
    return [{ pointer: `/${name}`, sent: `is ${value} months`, remedy: 'Send 0 or leave it out' }]
  })
}

function exclusionFindings({ payload }: Advert): readonly Finding[] {
  const findings: Finding[] = []
  if (memberAt(payload, ['details', 'housing_benefit_considered']) === false) {
    findings.push({
      pointer: '/details/housing_benefit_considered',
      sent: 'is false',
      remedy: 'Send true or leave it out',
    })
  }
  for (const [pointer, passage] of excludingPassages(payload)) {
    findings.push({ pointer, sent: `says "${passage}"`, remedy: 'Take these words out' })
  }
  return findings
}

function unstatedFindings({ payload, category, isHome }: Advert): readonly Finding[] {
  const unstated = unstatedOf(payload, category, isHome)
  if (unstated === undefined) return []
  const { names, pointers } = unstated
  const remedy = 'State what there is, and what there is not as none: 0, false, or its code'
  return [{ pointer: pointers[0] ?? '', pointers, sent: names, remedy }]
}
