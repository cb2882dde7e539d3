/**
 * The kinds of field in a payload, as JSON Schema. Each may be absent or null (spec §2.3), unknown members pass, and
 * none uses a keyword other than those that `find-faults.ts` can explain: `type`, `properties`, `required`, `items`,
 * `maxItems`, `maxLength`, `pattern`.
 */
import Type from 'typebox'
import { maxArrayItems, maxUrlLength, uuidPattern, webUrlPattern } from './field-rules.ts'

/** The type of a `record` with these members, as it may stand in a payload. */
type Members<P extends Type.TProperties> = Readonly<Type.Static<Type.TObject<P>>>

function optional<T>(type: string | readonly string[], description: string, keywords: object = {}) {
  return Type.Optional(Type.Unsafe<T | null>({ type: [type, 'null'].flat(), ...keywords, description }))
}

export function text(description: string) {
  return optional<string>('string', description)
}

/** A JSON number without a fraction; `3.0` counts as 3. */
export function integer(description: string) {
  return optional<number>('integer', description)
}

export function decimal(description: string) {
  return optional<number>('number', description)
}

export function flag(description: string) {
  return optional<boolean>('boolean', description)
}

/** For members whose type the spec leaves open, and of which feeds contain both forms. */
export function textOrNumber(description: string) {
  return optional<string | number>(['string', 'number'], description)
}

export function uuid(description: string) {
  return optional<string>('string', description, { pattern: uuidPattern })
}

export function webUrl(description: string) {
  return optional<string>('string', description, { maxLength: maxUrlLength, pattern: webUrlPattern })
}

export function record<P extends Type.TProperties>(description: string, members: P) {
  return optional<Members<P>>('object', description, { properties: members })
}

/** A list of anything, for arrays whose elements the spec does not type. */
export function list(description: string) {
  return optional<readonly unknown[]>('array', description, { maxItems: maxArrayItems, items: {} })
}

export function textList(description: string) {
  return listOf<string>(description, { type: ['string', 'null'] })
}

export function integerList(description: string) {
  return listOf<number>(description, { type: ['integer', 'null'] })
}

export function webUrlList(description: string) {
  const items = { type: ['string', 'null'], maxLength: maxUrlLength, pattern: webUrlPattern }
  return listOf<string>(description, items)
}

export function recordList<P extends Type.TProperties>(description: string, members: P) {
  return listOf<Members<P>>(description, { type: ['object', 'null'], properties: members })
}

/** An object with these members, or an array of anything: the two forms of `obligations` (spec §2.6). */
export function recordOrList<P extends Type.TProperties>(description: string, members: P) {
  const keywords = { properties: members, maxItems: maxArrayItems, items: {} }
  return optional<Members<P> | readonly unknown[]>(['object', 'array'], description, keywords)
}

/** The UUID of the subject: the one member that must be there, and not null (D16). */
export function subjectUuid(description: string) {
  return Type.String({ pattern: uuidPattern, description })
}

function listOf<T>(description: string, items: object) {
  return optional<readonly (T | null)[]>('array', description, { maxItems: maxArrayItems, items })
}
