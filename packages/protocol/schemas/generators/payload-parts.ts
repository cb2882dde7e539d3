/** The parts of the payloads as schemas with names of their own, so that generated clients have types such as `Address`. */
import type { TSchema } from 'typebox'

type Schema = Readonly<Record<string, unknown>>

/** Where a part stands in its payload: names of members, `*` for the items of a list. Inner parts come first. */
const propertyParts: readonly (readonly [string, string])[] = [
  ['details/epc_information', 'EnergyCertificate'],
  ['details/obligations', 'Obligations'],
  ['details/rooms/*', 'Room'],
  ['details/sizing', 'SizeRange'],
  ['details/risks', 'Risks'],
  ['address', 'Address'],
  ['price_information', 'PriceInformation'],
  ['details', 'Details'],
  ['media/*', 'MediaItem'],
  ['risks', 'Risks'],
  ['principal', 'Principal'],
]

const contactParts: readonly (readonly [string, string])[] = [
  ['communications/*/consent', 'Consent'],
  ['communications/*', 'Communication'],
  ['address', 'ContactAddress'],
  ['properties/*', 'ContactProperty'],
]

/** The names of the payloads and their parts. */
export const payloadNames: readonly string[] = [
  'PropertyPayload',
  'ContactPayload',
  ...[...propertyParts, ...contactParts].map(([, name]) => name),
]

/** Both payloads with references in place of their parts, and the parts by name. */
export function namedPayloads(payloads: {
  readonly PropertyPayload: TSchema
  readonly ContactPayload: TSchema
}) {
  const parts: Record<string, Schema> = {}
  const PropertyPayload = propertyParts.reduce(
    (payload, [place, name]) => liftPart(payload, place.split('/'), name, parts),
    plain(payloads.PropertyPayload),
  )
  const ContactPayload = contactParts.reduce(
    (payload, [place, name]) => liftPart(payload, place.split('/'), name, parts),
    plain(payloads.ContactPayload),
  )
  parts['Obligations'] = obligations(parts['Obligations'] ?? {})
  return { PropertyPayload, ContactPayload, parts }
}

function plain(schema: TSchema): Schema {
  return JSON.parse(JSON.stringify(schema))
}

function liftPart(
  schema: Schema,
  path: readonly string[],
  name: string,
  parts: Record<string, Schema>,
): Schema {
  const [member = '', ...rest] = path
  const holder = member === '*' ? schema : asSchema(schema['properties'])
  const key = member === '*' ? 'items' : member
  const part = asSchema(holder[key])
  if (rest.length === 0) parts[name] = { title: name, ...part }
  const changed =
    rest.length === 0 ? { $ref: `#/components/schemas/${name}` } : liftPart(part, rest, name, parts)
  const held = { ...holder, [key]: changed }
  return member === '*' ? held : { ...schema, properties: held }
}

function asSchema(value: unknown): Schema {
  if (!isSchema(value)) throw new Error('a part of a payload is not where it was')
  return value
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * One of the two forms of the contract (spec §2.6), or null. The second spellings, which RTDF has, differ from the first in
 * capitals alone, and generated types then have one name twice.
 */
function obligations(schema: Schema): Schema {
  const properties = Object.entries(asSchema(schema['properties']))
  const ofSpec = properties.filter(([name]) => /^[A-Z]/.test(name))
  const others = properties.map(([name]) => name).filter((name) => /^[a-z]/.test(name))
  const said = `Members may also be spelled as RTDF has them: ${others.join(', ')}.`
  const { title, description, maxItems, items } = schema
  return {
    title,
    description,
    oneOf: [
      {
        type: 'object',
        properties: Object.fromEntries(ofSpec),
        additionalProperties: { description: said },
      },
      { type: 'array', maxItems, items },
      { type: 'null' },
    ],
  }
}
