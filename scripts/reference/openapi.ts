/** As much of OpenAPI as the reference shows of `openapi.json`, and look-ups in it. */

export interface OpenApi {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly headers: Readonly<Record<string, Header>>
    readonly responses: Readonly<Record<string, Response>>
  }
}

export interface Reference {
  readonly $ref: string
}

export interface OperationObject {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly deprecated?: true
  readonly security: readonly object[]
  /** Any one of them lets a key do it. */
  readonly 'x-scopes'?: readonly string[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header'
  readonly required: boolean
  readonly description: string
  readonly schema: Schema
  readonly example?: unknown
}

export interface Header {
  readonly description: string
  readonly schema: Schema
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Header | Reference>>
  readonly content?: Content
}

export type Content = Readonly<Record<string, { readonly schema: Schema }>>

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly contentMediaType?: string
}

/** An operation with its address, and with parts in place of references to them. Schemas stay references. */
export interface Operation extends Omit<OperationObject, 'parameters' | 'responses'> {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly responses: readonly StatusResponse[]
  /** Of the same operation with HEAD; `undefined`: there is none. */
  readonly headId: string | undefined
}

export interface StatusResponse {
  readonly status: number
  readonly description: string
  readonly headers: readonly string[]
  readonly content: Content
}

/** All operations but those with HEAD, which stand beside theirs with GET. */
export function operationsOf(document: OpenApi): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'head')
      .map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
        parameters: (operation.parameters ?? []).map((one) => resolved(one, document.components.parameters)),
        responses: Object.entries(operation.responses).map(([status, response]) => {
          const {
            description,
            headers = {},
            content = {},
          } = resolved(response, document.components.responses)
          return { status: Number(status), description, headers: Object.keys(headers), content }
        }),
        headId: method === 'get' ? methods['head']?.operationId : undefined,
      })),
  )
}

/** Every header of an answer, by its name. */
export function headersOf(document: OpenApi): ReadonlyMap<string, Header> {
  const headers = new Map<string, Header>()
  for (const methods of Object.values(document.paths)) {
    for (const { responses } of Object.values(methods)) {
      for (const response of Object.values(responses)) {
        const { headers: given = {} } = resolved(response, document.components.responses)
        for (const [name, header] of Object.entries(given))
          if (!headers.has(name)) headers.set(name, resolved(header, document.components.headers))
      }
    }
  }
  return headers
}

function resolved<Part extends object>(part: Part | Reference, named: Readonly<Record<string, Part>>): Part {
  if (!('$ref' in part)) return part
  const found = named[lastOf(part.$ref)]
  if (found === undefined) throw new Error(`${part.$ref} leads nowhere`)
  return found
}

/** The name in a reference to a schema. */
export function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

export function schemaNamed(document: OpenApi, name: string): Schema {
  const schema = document.components.schemas[name]
  if (schema === undefined) throw new Error(`there is no schema ${name}`)
  return schema
}

/** What a schema refers to, or the schema itself. */
export function followed(document: OpenApi, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : schemaNamed(document, lastOf(schema.$ref))
}
