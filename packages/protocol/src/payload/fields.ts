/**
 * The kinds of field a payload is made of, as JSON Schema. Every one may be absent or null (spec §2.3),
 * unknown members pass, and none uses a keyword beyond those `find-faults.ts` explains to people: `type`,
 * `properties`, `required`, `items`, `maxItems`, `maxLength`, `pattern`.
 */
import Type from 'typebox'

/** The most elements any array of a payload may have. RTDF's largest limit is 999 media items. */
export const maxArrayItems = 10_000

/** A UUID: 8-4-4-4-12 hexadecimal digits in either case, without braces or a `urn:uuid:` prefix. */
export const uuidPattern = '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$'

/**
 * An absolute http or https URL without a user name or password. Consumers put these URLs into pages and
 * download them, so `javascript:`, `data:` and `file:` are refused, and so are a backslash or an at sign
 * before the path, where URL parsers disagree about the host. Blanks inside a path pass: file names of
 * photographs have them. Takes time linear in the length: no two neighbouring parts share a character.
 */
export const webUrlPattern =
  '^[Hh][Tt][Tt][Pp][Ss]?://' +
  '(?:\\[[0-9A-Fa-f:.]+\\]|[^\\u0000-\\u0020\\u007F/?#@:%<>"`{}|^\\\\\\[\\]]+)' +
  '(?::[0-9]{1,5})?' +
  '(?:[/?#][^\\u0000-\\u001F\\u007F]*)?$'

/**
 * The longest URL that is accepted, in characters: 2,048 is what content networks and the sitemap protocol
 * take at most, leaves room for signed image addresses (about 1,000), and keeps a URL from being used as
 * a store for something else.
 */
export const maxUrlLength = 2048

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

/** For members whose type the spec leaves open and of which both forms are seen. */
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
  return optional<readonly unknown[]>('array', description, { maxItems: maxArrayItems })
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
  const keywords = { properties: members, maxItems: maxArrayItems }
  return optional<Members<P> | readonly unknown[]>(['object', 'array'], description, keywords)
}

/** The UUID of the subject: the one member that must be there, and not null (D16). */
export function subjectUuid(description: string) {
  return Type.String({ pattern: uuidPattern, description })
}

function listOf<T>(description: string, items: object) {
  return optional<readonly (T | null)[]>('array', description, { maxItems: maxArrayItems, items })
}
