/** Values that a schema of the OpenAPI document allows, and values close to them that it does not. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { resolveRef } from './openapi-document.ts'
import type { JsonSchema, OpenApiDocument } from './openapi-document.ts'

/** Checks values against a schema of the document with a validator that is not ours. Says what is wrong, or nothing. */
export type Check = (value: unknown) => string | undefined

const hex = (digits: number) => `[0-9A-Fa-f]{${digits}}`

const formats: Readonly<Record<string, RegExp>> = {
  uuid: new RegExp(`^${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}$`),
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
}

/** Texts that somebody might write, and others. */
const words = fc.oneof(
  fc.constantFrom('Tŷ Gwyn, £450,000 – dim cadwyn 🏡', 'Llanfair ŵ', "O'Neill & Sons", '<b>4</b>', '  '),
  fc.string({ maxLength: 20, unit: 'grapheme' }),
)

/** Checks of one document. `at` is where a schema stands in it: `#/components/schemas/Problem`. */
export function checksOf(document: OpenApiDocument): (schema: JsonSchema) => Check {
  const ajv = new Ajv2020({ strict: false })
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format)
  const checks = new Map<string, Check>()
  return (schema) => {
    const text = JSON.stringify(schema)
    const known = checks.get(text)
    if (known !== undefined) return known
    const validate = ajv.compile({ allOf: [schema], components: document.components })
    const check: Check = (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors))
    checks.set(text, check)
    return check
  }
}

/** A value as it is sent in a query, path or header, for a check: digits are a number there. */
export function valueOfText(text: string, { type }: JsonSchema): unknown {
  if (type === 'integer') return /^-?\d+$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : text
  return text
}

export function valuesOf(document: OpenApiDocument, schema: JsonSchema): fc.Arbitrary<unknown> {
  const inner = (one: unknown) => valuesOf(document, one as JsonSchema)
  if (typeof schema['$ref'] === 'string') return inner(resolveRef(document, schema['$ref']))
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum'])
  const forms = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(forms)) return fc.oneof(...forms.map(inner))
  if (Array.isArray(schema['type']))
    return fc.oneof(...schema['type'].map((type) => inner({ ...schema, type })))
  switch (schema['type']) {
    case 'object':
      return objectsOf(schema, inner)
    case 'array':
      return fc.array(inner(schema['items'] ?? {}), {
        minLength: numberOf(schema['minItems'], 0),
        maxLength: Math.min(numberOf(schema['minItems'], 0) + 2, numberOf(schema['maxItems'], 2)),
      })
    case 'string':
      return textsOf(document, schema)
    case 'integer':
      return fc.integer({
        min: Math.max(numberOf(schema['minimum'], -100), -(2 ** 31)),
        max: Math.min(numberOf(schema['maximum'], 1_000), 2 ** 31 - 1),
      })
    case 'number':
      return fc.integer({ min: 0, max: 100_000_000 }).map((pence) => pence / 100)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

function objectsOf(schema: JsonSchema, inner: (one: unknown) => fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const members = Object.fromEntries(
    Object.entries(schema['properties'] ?? {}).map(([name, one]) => [name, inner(one)]),
  )
  const { required = [] } = schema
  return fc.record(members, { requiredKeys: required as never[], noNullPrototype: true })
}

function textsOf(document: OpenApiDocument, schema: JsonSchema): fc.Arbitrary<string> {
  const { format, pattern, minLength = 0, maxLength = 10_000, contentSchema } = schema
  const isLong = (text: string) => {
    const { length } = Array.from(text)
    return length >= Number(minLength) && length <= Number(maxLength)
  }
  if (contentSchema !== undefined)
    return valuesOf(document, contentSchema as JsonSchema).map((value) => JSON.stringify(value))
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern)).filter(isLong)
  if (format === 'uuid')
    return fc.uuid().map((id, upper = id.startsWith('a')) => (upper ? id.toUpperCase() : id))
  if (format === 'date') return fc.constantFrom('2026-01-31', '2036-02-29', '2999-12-31')
  if (format === 'date-time') return fc.constantFrom('2036-01-31T09:30:00Z', '2999-12-31T23:59:59.999+01:00')
  if (format === 'uri') return fc.webUrl()
  // Lengths are counted in code points.
  const longest = fc.constant('🏡'.repeat(Math.min(Number(maxLength), 1_000)))
  return fc.oneof({ weight: 9, arbitrary: words }, { weight: 1, arbitrary: longest }).filter(isLong)
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

/** The value with one part of it exchanged for something else, or left out. Most often no longer allowed. */
export function spoilt(value: unknown): fc.Arbitrary<unknown> {
  const others = fc.constantFrom<unknown>(
    null,
    '',
    'x',
    -1,
    1.5,
    1e300,
    true,
    [],
    {},
    [[]],
    { x: 1 },
    'a'.repeat(3_000),
  )
  if (typeof value !== 'object' || value === null) return others
  const names = Object.keys(value)
  if (names.length === 0) return others
  const inside = fc.constantFrom(...names).chain((name) => {
    const { [name as keyof typeof value]: member, ...rest } = value
    const changed = spoilt(member).map((other) =>
      Array.isArray(value) ? value.with(Number(name), other) : { ...rest, [name]: other },
    )
    return Array.isArray(value)
      ? changed
      : fc.oneof(changed, fc.constant(rest), fc.constant({ ...value, xyzzy: 1 }))
  })
  return fc.oneof({ weight: 1, arbitrary: others }, { weight: 5, arbitrary: inside })
}
