import type { RecordRule } from './advice-rules.ts'
import { nameKind, showValue } from './describe-value.ts'
import { codesAt, kindRemedy, membersRemedy, missingRemedy, typeRemedy } from './fault-remedies.ts'
import { countCodePoints, maxUrlLength, uuidPattern, webUrlPattern } from './field-rules.ts'
import { isRecord } from './member-at.ts'
import { ownReferenceRemedy, uuidRemedy } from '../uuid.ts'

/** What can be wrong with a payload. Stable: programs may rely on these codes. */
export type PayloadFaultCode =
  | 'missing'
  | 'wrong_type'
  | 'not_a_uuid'
  | 'bad_url'
  | 'too_long'
  | 'too_many_items'

/** One breach of a payload's contract. */
export interface PayloadFault {
  /** Where, as an RFC 6901 pointer into the payload, such as `/details/bedrooms`. */
  readonly pointer: string
  readonly code: PayloadFaultCode
  /** What is allowed and what was sent. Never holds a value of a contact payload. */
  readonly message: string
}

/** The most faults that are reported: enough to show a pattern, and few enough for a short answer. */
export const maxFaults = 20

/** The part of JSON Schema that payload schemas are made of (`fields.ts`). */
interface SchemaNode {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly items?: SchemaNode
  readonly maxItems?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly description?: string
}

/**
 * Explains why a value does not match a payload schema: at most 20 faults, in the schema's order.
 *
 * TypeBox can do this too, but its limit of errors (8) is a setting of the whole process, and its paths and keywords
 * would have to be translated into our codes anyway. The tests check that this function finds a fault exactly when
 * TypeBox's compiled check says no.
 *
 * @param schema A payload's JSON Schema, made of the kinds in `fields.ts`.
 * @param rules Where codes belong. Messages repeat the values that were sent. Left out, for personal data: they do not.
 */
export function findFaults(schema: object, value: unknown, rules?: RecordRule): PayloadFault[] {
  const search: Search = { faults: [], rules, show: rules === undefined ? nameKind : showValue }
  if (isSchemaNode(schema)) visit(search, schema, value, '')
  return search.faults
}

interface Search {
  readonly faults: PayloadFault[]
  readonly rules: RecordRule | undefined
  readonly show: (value: unknown) => string
}

function visit(search: Search, schema: SchemaNode, value: unknown, pointer: string): void {
  const allowed = [schema.type ?? []].flat()
  if (allowed.length > 0 && !allowed.some((type) => isOfType(type, value))) {
    const message = `must be ${nameTypes(allowed)}; ${search.show(value)} was sent`
    report(search, pointer, 'wrong_type', message + remedyOf(search, schema, value, pointer))
  } else if (typeof value === 'string') visitText(search, schema, value, pointer)
  else if (Array.isArray(value)) visitArray(search, schema, value, pointer)
  else if (isRecord(value)) visitObject(search, schema, value, pointer)
}

function visitText(search: Search, schema: SchemaNode, value: string, pointer: string): void {
  // There are never more characters than code units, so only a text with too many code units is counted in full.
  const { maxLength, pattern } = schema
  if (maxLength !== undefined && value.length > maxLength && countCodePoints(value) > maxLength) {
    report(
      search,
      pointer,
      'too_long',
      `must have at most ${maxLength} characters; ${nameKind(value)} was sent`,
    )
  } else if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
    const { code, allowed } = patternFaults[pattern] ?? unknownPattern
    const message = `must be ${allowed}; ${search.show(value)} was sent`
    report(search, pointer, code, message + remedyOf(search, schema, value, pointer))
  }
}

function visitArray(search: Search, schema: SchemaNode, value: readonly unknown[], pointer: string): void {
  const { maxItems, items } = schema
  if (maxItems !== undefined && value.length > maxItems) {
    report(
      search,
      pointer,
      'too_many_items',
      `must have at most ${maxItems} items; ${value.length} were sent`,
    )
    return
  }
  if (items === undefined) return
  for (const [index, item] of value.entries()) {
    if (search.faults.length >= maxFaults) return
    visit(search, items, item, `${pointer}/${index}`)
  }
}

function visitObject(
  search: Search,
  schema: SchemaNode,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
): void {
  const { properties = {} } = schema
  for (const [name, member] of Object.entries(properties)) {
    const sent = Object.hasOwn(value, name) ? value[name] : undefined
    const isRequired = schema.required?.includes(name) === true
    if (isRequired && (sent === undefined || sent === null)) {
      const remedy = missingRemedy(name, value, Object.keys(properties))
      const what = remedy === '' ? `; ${nameKind(sent)} was sent` : remedy
      report(search, `${pointer}/${name}`, 'missing', missingMessage(member) + what)
    } else if (sent !== undefined) visit(search, member, sent, `${pointer}/${name}`)
  }
}

function report(search: Search, pointer: string, code: PayloadFaultCode, message: string): void {
  if (search.faults.length >= maxFaults) return
  const path = pointer === '' ? 'The payload' : pointer.slice(1)
  search.faults.push({ pointer, code, message: `${path} ${message}${/[.?]$/.test(message) ? '' : '.'}` })
}

/** About a required field that is absent or null. */
function missingMessage(schema: SchemaNode): string {
  const allowed = schema.pattern === undefined ? undefined : patternFaults[schema.pattern]?.allowed
  return `must be present and be ${allowed ?? nameTypes([schema.type ?? []].flat())}`
}

/** A publisher's own reference, a text or a number, can be turned into a UUID. */
function remedyOf({ rules }: Search, schema: SchemaNode, value: unknown, pointer: string): string {
  const isOwn = typeof value === 'string' || typeof value === 'number'
  if (schema.pattern === uuidPattern && isOwn) return `. ${uuidRemedy(String(value), ownReferenceRemedy)}`
  const types = [schema.type ?? []].flat()
  if (rules === undefined) return kindRemedy(value, types)
  if (schema.pattern !== undefined) return ''
  if (types.includes('object')) return membersRemedy(value, Object.keys(schema.properties ?? {}))
  return typeRemedy(value, types, codesAt(rules, pointer))
}

const uuidFault = {
  code: 'not_a_uuid',
  allowed: 'a UUID such as 0d4b6a1e-58c5-4f0e-9a57-2b7c1f3d9e60, without braces or prefix',
} as const

const urlFault = {
  code: 'bad_url',
  allowed: `an absolute http or https URL without user name and password, of at most ${maxUrlLength} characters`,
} as const

const patternFaults: Readonly<Record<string, typeof uuidFault | typeof urlFault>> = {
  [uuidPattern]: uuidFault,
  [webUrlPattern]: urlFault,
}

/** None of our schemas has another pattern; if one appears, a fault is still reported. */
const unknownPattern = { code: 'wrong_type', allowed: 'in the documented form' } as const

const typeNames: Readonly<Record<string, readonly string[]>> = {
  object: ['an object'],
  array: ['an array'],
  string: ['a string'],
  number: ['a number'],
  integer: ['an integer'],
  boolean: ['true', 'false'],
}

function nameTypes(types: readonly string[]): string {
  const names = types.flatMap((type) => typeNames[type] ?? [type])
  const last = names.at(-1) ?? ''
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last
}

/** Neither TypeBox's types nor an imported JSON file say that a schema has a `type`. */
function isSchemaNode(schema: object): schema is SchemaNode {
  return 'type' in schema
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'number') return Number.isFinite(value)
  return typeof value === type
}
