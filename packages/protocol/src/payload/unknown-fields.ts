/** Members of payloads that the contract does not know: they are kept, and consumers ignore them. */
import contactSchema from '../../schemas/contact-payload.schema.json' with { type: 'json' }
import propertySchema from '../../schemas/property-payload.schema.json' with { type: 'json' }
import type { FeedName } from '../feeds.ts'
import { nearestName } from '../nearest-name.ts'
import type { PayloadAdvice } from './advise.ts'
import { isRecord } from './member-at.ts'

export interface UnknownFields {
  /** Names that look like a known field of the same level, each once, however many items of a list have it. */
  readonly misspelled: readonly PayloadAdvice[]
  /** The number of all other names. */
  readonly others: number
}

/**
 * Looks at the names of members at every level, but not inside unknown members. It reports names and never values, so
 * it serves contacts too (D18). Costs some 2 µs for a payload of 120 known members.
 */
export function findUnknownFields(feed: FeedName, payload: unknown): UnknownFields {
  const search: Search = { misspelled: [], reported: new Set(), others: 0, lookUpsLeft: lookUpsAtMost }
  visit(search, known[feed], payload, '')
  const { misspelled, others } = search
  return { misspelled, others }
}

/** Payloads of 256 KiB can have 30,000 unknown names, and each takes some 10 µs to compare. */
const lookUpsAtMost = 40
/** Publishers have a few dozen fields of their own, the same in every payload. */
const rememberedAtMost = 500

interface Search {
  readonly misspelled: PayloadAdvice[]
  readonly reported: Set<string>
  others: number
  lookUpsLeft: number
}

/** The known members of one object of a payload; `value` for a member that has no members of its own. */
interface KnownRecord {
  readonly path: string
  readonly members: ReadonlyMap<string, KnownRecord | 'value'>
  /** Names of members by their letters alone. */
  readonly fieldOf: ReadonlyMap<string, string>
  /** For unknown names seen so far, the field that was probably meant. */
  readonly met: Map<string, string | undefined>
}

interface SchemaNode {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
}

const known: Readonly<Record<FeedName, KnownRecord>> = {
  property: knownRecord(propertySchema.properties, ''),
  contact: knownRecord(contactSchema.properties, ''),
}

/** The names of all members of a payload that the contract knows, at whatever level. */
export const knownFieldNames: Readonly<Record<FeedName, ReadonlySet<string>>> = {
  property: new Set(namesIn(known.property)),
  contact: new Set(namesIn(known.contact)),
}

function namesIn({ members }: KnownRecord): readonly string[] {
  return [...members].flatMap(([name, inner]) => (inner === 'value' ? [name] : [name, ...namesIn(inner)]))
}

function knownRecord(properties: Readonly<Record<string, SchemaNode>>, path: string): KnownRecord {
  const members = Object.entries(properties).map(([name, { properties: own, items }]) => {
    const inner = own ?? items?.properties
    return [name, inner === undefined ? 'value' : knownRecord(inner, `${path}/${name}`)] as const
  })
  const fieldOf = new Map(members.map(([name]) => [lettersOf(name), name]))
  return { path, members: new Map(members), fieldOf, met: new Map() }
}

function visit(search: Search, record: KnownRecord, value: unknown, pointer: string): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (isRecord(item)) visitMembers(search, record, item, `${pointer}/${index}`)
    }
  } else if (isRecord(value)) visitMembers(search, record, value, pointer)
}

function visitMembers(
  search: Search,
  record: KnownRecord,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
): void {
  // An object from `JSON.parse` inherits no members, and a list of its names would cost as much as looking them up.
  for (const name in value) {
    const member = record.members.get(name)
    if (member === undefined) noteUnknown(search, record, name, pointer)
    else if (member !== 'value') visit(search, member, value[name], `${pointer}/${name}`)
  }
}

function noteUnknown(search: Search, record: KnownRecord, name: string, pointer: string): void {
  const meant = meantBy(search, record, name)
  if (meant === undefined) {
    search.others += 1
    return
  }
  const path = `${record.path}/${name}`
  if (search.reported.has(path)) return
  search.reported.add(path)
  const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const message = `${at.slice(1)} is not a known field, and consumers do not look at it: ${meant} is probably meant.`
  search.misspelled.push({ pointer: at, code: 'unknown_field', message })
}

function meantBy(search: Search, { fieldOf, met }: KnownRecord, name: string): string | undefined {
  if (met.has(name)) return met.get(name)
  if (search.lookUpsLeft === 0) return undefined
  search.lookUpsLeft -= 1
  const meant = nearestField(name, fieldOf)
  // A long name is near to none, so it is not worth keeping.
  if (met.size < rememberedAtMost && name.length <= 60) met.set(name, meant)
  return meant
}

/**
 * The field that a name is probably meant to be: the same letters in another case or with other separators
 * (`displayAddress`), or one wrong letter, in names of eight or more letters two. Another number is another field:
 * `address_5` is not `address_4`.
 */
function nearestField(name: string, fieldOf: ReadonlyMap<string, string>): string | undefined {
  const digits = digitsOf(name)
  const candidates = [...fieldOf.keys()].filter((letters) => digits === '' || digits === digitsOf(letters))
  const meant = nearestName(lettersOf(name), candidates, ({ length }) => (length < 8 ? 1 : 2))
  return meant === undefined ? undefined : fieldOf.get(meant)
}

function lettersOf(name: string): string {
  return name
    .slice(0, 101)
    .toLowerCase()
    .replaceAll(/[_\- ]/g, '')
}

function digitsOf(name: string): string {
  return name.slice(0, 101).replaceAll(/[^0-9]/g, '')
}
