/** How an operation is described in the OpenAPI document and on the page at `/docs`. */

/** The description of an operation in the OpenAPI document and on the page at `/docs`. */
export interface OperationSchema {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  /** Empty: no key is needed. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly querystring?: ParameterSchemas
  readonly params?: PathSchemas
  /** Request headers of its own that it reads. */
  readonly headers?: ParameterSchemas
  readonly body?: { readonly content: MediaTypes }
  /** By status. */
  readonly response: Readonly<Record<string, ResponseSchema>>
}

/** Parameters of a query, or headers, by name. Those in `required` are, no others. */
export interface ParameterSchemas {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, ParameterSchema>>
  readonly required?: readonly string[]
}

/** Parameters of a path: all are required, and each has an example that tools can send. */
export interface PathSchemas extends ParameterSchemas {
  readonly properties: Readonly<Record<string, PathSchema>>
}

export interface PathSchema extends ParameterSchema {
  readonly examples: readonly [string, ...(readonly string[])]
}

/** A JSON Schema with what a reader needs to know. */
export interface ParameterSchema {
  readonly type: string
  readonly description: string
  readonly default?: unknown
  readonly examples?: readonly string[]
  readonly [keyword: string]: unknown
}

export interface ResponseSchema {
  readonly description: string
  readonly headers: Readonly<Record<string, HeaderSchema>>
  /** `undefined` for an answer without a body. */
  readonly content?: MediaTypes
}

export interface HeaderSchema {
  readonly type: string
  readonly description: string
}

/** JSON Schemas by media type. */
type MediaTypes = Readonly<Record<string, { readonly schema: object }>>
