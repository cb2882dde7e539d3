/** The types in TypeScript of what is on the wire, made of the named schemas: what a schema says of a member stands above the member. */
import { namedSchemas } from '../named-schemas.ts'
import { namedParts } from '../parts.ts'
import { payloadNames } from './payload-parts.ts'

interface Schema {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
}

const lineLength = 110
const commentLength = 140
const payloads: ReadonlySet<string> = new Set(payloadNames)

function read(text: string): Readonly<Record<string, Schema>> {
  return JSON.parse(text)
}

/** All but the payloads, which both ends read member by member. */
export const wireNames: readonly string[] = Object.keys(namedSchemas).filter((name) => !payloads.has(name))

const schemas: Readonly<Record<string, Schema>> = {
  ...read(JSON.stringify(Object.fromEntries(namedParts()))),
  ...read(JSON.stringify(namedSchemas)),
}
const names: ReadonlyMap<string, string> = new Map(
  Object.entries(schemas).map(([name, schema]) => [shapeOf(schema), name]),
)

/** The same for a schema that has a name and for its like within another one. */
function shapeOf({ title: _title, ...schema }: Schema): string {
  return JSON.stringify(schema.enum ?? schema)
}

/** The types of these schemas, each followed by those that it is made of, but for the payloads. */
export function wireTypes(wanted: readonly string[]): string {
  const texts = new Map<string, string>()
  for (const name of wanted) add(name)
  return [...texts.values()].join('\n')

  function add(name: string): void {
    const schema = schemas[name]
    if (schema === undefined) throw new Error(`there is no schema ${name}`)
    if (texts.has(name)) return
    const { text, uses } = declaration(name, schema)
    texts.set(name, text)
    for (const used of uses) if (!payloads.has(used)) add(used)
  }
}

/** The type of a schema, and the names of the types that it is made of. */
function declaration(name: string, schema: Schema): { readonly text: string; readonly uses: Set<string> } {
  const uses = new Set<string>()
  const comment = commentOf(schema.description, '')
  const body = isObject(schema) ? members(schema, '', uses) : undefined
  const text =
    body === undefined
      ? broken(`export type ${name} =`, parts({ ...schema, title: name }, '', uses, true), '')
      : `export interface ${name} ${body}`
  return { text: `${comment}${text}\n`, uses }
}

function isObject({ type, properties }: Schema): boolean {
  return type === 'object' && properties !== undefined
}

function members(
  { properties = {}, required = [], additionalProperties }: Schema,
  indent: string,
  uses: Set<string>,
): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, member]) => {
    const isOptional = !required.includes(name)
    // Whoever makes a value may write `undefined`: it is not sent.
    const other = isOptional && additionalProperties === false ? ['undefined'] : []
    const begin = `${inner}readonly ${name}${isOptional ? '?' : ''}:`
    const all = [...parts(member, inner, uses), ...other]
    return `${commentOf(member.description, inner)}${broken(begin, all, inner)}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}

/** A type that is one of several others. */
function parts(schema: Schema, indent: string, uses: Set<string>, isTop = false): readonly string[] {
  const isOpen = schema.description?.includes('may come') === true
  const all = (schema.anyOf ?? schema.oneOf)?.flatMap((one) => parts(one, indent, uses))
  const found = new Set(all ?? single(schema, indent, uses, isTop))
  const isText = [...found].some((one) => one.startsWith("'"))
  // A text or number that is named beside all texts or numbers adds nothing.
  const wider = [...found].filter(
    (one) => !(found.has('string') && one.startsWith("'")) && !(found.has('number') && /^\d/.test(one)),
  )
  // So that an editor still offers the names.
  if (wider.some((one) => schemas[one]?.enum !== undefined))
    return wider.map((one) => (one === 'string' ? '(string & {})' : one))
  if (!isOpen || !isText || found.has('string')) return wider
  return wider.flatMap((one, index) =>
    // Before null, which comes last.
    one === 'null' ? ['(string & {})', one] : index === wider.length - 1 ? [one, '(string & {})'] : [one],
  )
}

function single(schema: Schema, indent: string, uses: Set<string>, isTop: boolean): readonly string[] {
  const name = schema.$ref?.split('/').at(-1) ?? (isTop ? undefined : names.get(shapeOf(schema)))
  if (name !== undefined) {
    uses.add(name)
    return [name]
  }
  if (schema.enum !== undefined) return schema.enum.map(literal)
  if (schema.const !== undefined) return [literal(schema.const)]
  return [ofType(schema, indent, uses)]
}

function ofType(schema: Schema, indent: string, uses: Set<string>): string {
  const { type = 'unknown', items = {}, patternProperties = {} } = schema
  if (type === 'array') {
    const item = parts(items, indent, uses).join(' | ')
    return `readonly ${item.includes(' | ') && !item.startsWith('{') ? `(${item})` : item}[]`
  }
  if (type === 'object') {
    if (isObject(schema)) return members(schema, indent, uses)
    const [value] = Object.values(patternProperties)
    if (value === undefined) return 'object'
    return `Readonly<Record<string, ${parts(value, indent, uses).join(' | ')}>>`
  }
  return type === 'integer' ? 'number' : type
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** A union as the formatter has it: on one line, or a line for each. */
function broken(begin: string, all: readonly string[], indent: string): string {
  const line = `${begin} ${all.join(' | ')}`
  if (line.includes('\n') || line.length <= lineLength) return line
  return `${begin}${all.map((one) => `\n${indent}  | ${one}`).join('')}`
}

function commentOf(description: string | undefined, indent: string): string {
  if (description === undefined) return ''
  const line = `${indent}/** ${description} */`
  if (line.length <= commentLength) return `${line}\n`
  const lines: string[] = []
  for (const word of description.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && indent.length + last.length + word.length + 4 <= commentLength)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return `${indent}/**\n${lines.map((text) => `${indent} * ${text}\n`).join('')}${indent} */\n`
}
