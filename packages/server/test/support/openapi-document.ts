/** Just enough of OpenAPI to walk the project's own document, and checks of values against its schemas. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Compile } from 'typebox/schema'

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly schema: JsonSchema
}

export type JsonSchema = Readonly<Record<string, unknown>>

export interface MediaType {
  readonly schema: JsonSchema
  readonly example?: unknown
}

export interface ResponseObject {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly schema: JsonSchema; readonly description?: string }>>
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface OperationObject {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> }
  readonly 'x-scopes'?: readonly string[]
  readonly responses: Readonly<Record<string, ResponseObject>>
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly servers: readonly {
    readonly url: string
    readonly variables?: Readonly<Record<string, { readonly default: string }>>
  }[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly [kind: string]: Readonly<Record<string, JsonSchema>>
  }
}

export const documentPath = join(import.meta.dirname, '../../../../openapi.json')

export function committedDocument(): OpenApiDocument {
  return JSON.parse(readFileSync(documentPath, 'utf8')) as OpenApiDocument
}

export interface DocumentedOperation extends OperationObject {
  readonly path: string
  readonly method: string
}

export function operationsOf(document: OpenApiDocument): readonly DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      ...(withSharedParts(document, operation) as OperationObject),
    })),
  )
}

/** With parameters, headers and refusals in place of references to them. Schemas stay references. */
function withSharedParts(document: OpenApiDocument, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => withSharedParts(document, member))
  if (typeof value !== 'object' || value === null) return value
  const ref: unknown = Reflect.get(value, '$ref')
  if (typeof ref === 'string' && !ref.startsWith('#/components/schemas/'))
    return withSharedParts(document, resolveRef(document, ref))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withSharedParts(document, member)]),
  )
}

/** Every `$ref` in the document. */
export function refsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' ? [member] : refsIn(member),
  )
}

/** What a reference such as `#/components/schemas/Event` points at. */
export function resolveRef(document: OpenApiDocument, ref: string): unknown {
  let value: unknown = document
  for (const step of ref.replace(/^#\//, '').split('/')) {
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[step]
  }
  return value
}

/** Says what is wrong with a value, or nothing. */
export type Validator = (value: unknown) => string | undefined

/** A check of values against a schema of the document, its references included. */
export function validatorOf(document: OpenApiDocument, schema: JsonSchema): Validator {
  const local = (text: string) => text.replaceAll('"#/components/schemas/', '"#/$defs/')
  const whole: JsonSchema = JSON.parse(
    local(JSON.stringify({ allOf: [schema], $defs: document.components.schemas })),
  )
  const compiled = Compile(whole)
  return (value) => {
    if (compiled.Check(value)) return undefined
    const [, errors] = compiled.Errors(value)
    return errors.map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ') || 'not valid'
  }
}
