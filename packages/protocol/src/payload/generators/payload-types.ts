/** The payloads as types of TypeScript, for programs that publish: the client has them without TypeBox, and without this package. */
import { ContactPayload } from '../contact.ts'
import { isRecord } from '../member-at.ts'
import { PropertyPayload } from '../property.ts'

const typeNames = new Map([
  ['string', 'string'],
  ['integer', 'number'],
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
])

/** `packages/client/src/payload/payload-types.ts`. */
export function payloadTypesModule(): string {
  return `/** Written by \`npm run openapi\`. Do not edit. */

/** An object whose known members have these types, and which may have others. */
type Open<Members> = Members | (Members & { readonly [member: string]: unknown })

${typesOf('PropertyPayload', PropertyPayload)}

${typesOf('ContactPayload', ContactPayload)}
`
}

/** The type of a payload, after those of the objects in it. Only the payload itself is exported. */
function typesOf(name: string, schema: unknown): string {
  const declarations: string[] = []
  declare(name, schema, declarations)
  const own = declarations.pop() ?? ''
  return [...declarations, `/** ${String(asRecord(schema)['description'])} */\nexport ${own}`].join('\n\n')
}

/** Declares the type of an object, and gives its name. */
function declare(name: string, schema: unknown, declarations: string[]): string {
  const { properties, required } = asRecord(schema)
  const members = Object.entries(asRecord(properties)).map(([member, of]) => {
    const isRequired = Array.isArray(required) && required.includes(member)
    const type = typeOf(`${name}${pascal(member)}`, of, declarations)
    // A member that is undefined is not sent.
    const text = isRequired ? `${member}: ${type}` : `${member}?: ${type} | undefined`
    return `  /** ${String(asRecord(of)['description'])} */\n  readonly ${text}\n`
  })
  declarations.push(`type ${name} = Open<{\n${members.join('')}}>`)
  return name
}

function typeOf(name: string, schema: unknown, declarations: string[]): string {
  const { type } = asRecord(schema)
  const types = [type].flat().map((one) => {
    if (one === 'object') return declare(name, schema, declarations)
    if (one === 'array') return `readonly ${itemsOf(name, schema, declarations)}[]`
    const known = typeNames.get(String(one))
    if (known === undefined)
      throw new Error(`${name} has the type ${String(one)}, for which there is no type of TypeScript`)
    return known
  })
  return types.join(' | ')
}

function itemsOf(name: string, schema: unknown, declarations: string[]): string {
  const items = asRecord(asRecord(schema)['items'])
  return 'type' in items ? `(${typeOf(name, items, declarations)})` : 'unknown'
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

/** `epc_information` is `EpcInformation`. */
function pascal(member: string): string {
  return member.replaceAll(/(?:^|_)([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase())
}
