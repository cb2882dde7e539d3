/** The operations of `openapi.json`, as this view lists them and builds forms for them. */
import type { Operation } from '../../service/operation.ts'

/** Only the members that this view reads. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema | Reference } }
  }
  /** Any one of them is enough. Missing: the operation needs no key, and is not behind the door of the console. */
  readonly 'x-scopes'?: readonly string[]
}

interface Reference {
  readonly $ref: string
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly example?: string | number | boolean
  readonly schema: Schema
}

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: string | number | boolean
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly format?: string
  readonly anyOf?: readonly (Schema | Reference)[]
  readonly oneOf?: readonly (Schema | Reference)[]
  readonly items?: Schema | Reference
  readonly properties?: Readonly<Record<string, Schema | Reference>>
  readonly required?: readonly string[]
}

export interface ApiOperation {
  readonly id: string
  readonly method: Operation<unknown>['method']
  /** With `{name}` for a part. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly scopes: readonly string[]
  readonly parameters: readonly ApiParameter[]
  /** A body to start with, as JSON; `undefined`: it takes none. */
  readonly sample: string | undefined
}

export interface ApiParameter {
  readonly name: string
  readonly place: Parameter['in']
  readonly says: string
  readonly isRequired: boolean
  /** An example of a value; empty if there is none. */
  readonly example: string
  /** If it has only a few possible values. */
  readonly among: readonly string[]
}

/** Operations that need a key, in the order of the document. HEAD is left out: it answers like GET, without a body. */
export function operationsOf(document: ApiDocument): readonly ApiOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, described]) => {
      const { 'x-scopes': scopes, operationId: id, summary, description, tags, parameters = [] } = described
      const method = methodOf(name)
      if (method === undefined || scopes === undefined) return []
      const schema = described.requestBody?.content['application/json'].schema
      const sample =
        schema === undefined ? undefined : JSON.stringify(sampleOf(document, schema), undefined, 2)
      const read = parameters.map((one) => parameterOf(document, one))
      const sorted = places.flatMap((place) => read.filter((one) => one.place === place))
      return [
        { id, method, path, tag: tags[0] ?? '', summary, description, scopes, parameters: sorted, sample },
      ]
    }),
  )
}

const places = ['path', 'query', 'header'] as const
const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const

function methodOf(name: string): ApiOperation['method'] | undefined {
  return methods.find((method) => method === name.toUpperCase())
}

function parameterOf({ components }: ApiDocument, given: Parameter | Reference): ApiParameter {
  const parameter = '$ref' in given ? components.parameters[given.$ref.split('/').at(-1) ?? ''] : given
  if (parameter === undefined) throw new Error('The document names a parameter that it does not have.')
  const { name, in: place, description: says, required: isRequired, example, schema } = parameter
  const among = schema.type === 'boolean' ? [true, false] : (schema.enum ?? [])
  return {
    name,
    place,
    says,
    isRequired,
    example: String(example ?? schema.default ?? (schema.format === 'uuid' ? nobody : '')),
    among: among.map(String),
  }
}

const nobody = '00000000-0000-0000-0000-000000000000'

/** A value that a schema allows, as far as the schema itself says: its example, or the required members of an object. */
function sampleOf(document: ApiDocument, given: Schema | Reference): unknown {
  const schema =
    '$ref' in given ? (document.components.schemas[given.$ref.split('/').at(-1) ?? ''] ?? {}) : given
  const { type, properties = {}, required = [], items, anyOf, oneOf } = schema
  const known = schema.examples?.[0] ?? schema.const ?? schema.default ?? schema.enum?.[0]
  if (known !== undefined) return known
  const [first] = anyOf ?? oneOf ?? []
  if (first !== undefined) return sampleOf(document, first)
  if (type === 'array') return items === undefined ? [] : [sampleOf(document, items)]
  if (type === 'object') {
    const members = Object.entries(properties).filter(([name]) => required.includes(name))
    return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(document, member)]))
  }
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0
  if (type === 'boolean') return false
  return schema.format === 'uuid' ? nobody : ''
}

/** Operations that contain every word of `text` in their id, path or summary. */
export function operationsWith(operations: readonly ApiOperation[], text = ''): readonly ApiOperation[] {
  const words = text.toLowerCase().split(/\s+/)
  return operations.filter(({ id, method, path, summary }) => {
    const all = `${id} ${method} ${path} ${summary}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
}
