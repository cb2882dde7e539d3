import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessNeed } from './authenticate.ts'

/** One operation of the service: one file in `routes/`, one line in the route table. */
export interface Operation {
  readonly method: 'GET' | 'POST'
  /** After the base path, in Fastify's spelling: `/events/:eventId`. */
  readonly path: string
  /** The media type it answers with; a client that refuses it gets a 406. */
  readonly mediaType: string
  /** What a key must grant; `undefined`: no key is asked for. */
  readonly access: AccessNeed | undefined
  /** Made when a document is asked for; the service reads parameters and bodies itself. */
  readonly schema: () => OperationSchema
  /** Runs once a key is accepted, before a body is read. */
  readonly beforeBody?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>
  /** Answers the request. `undefined`: it was answered past the framework. */
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>
}

/** What the OpenAPI document and the page at `/docs` say about an operation. */
export interface OperationSchema {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  /** Empty: no key is needed. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly querystring?: ParameterSchemas
  readonly params?: ParameterSchemas
  readonly body?: { readonly content: MediaTypes }
  /** By status. */
  readonly response: Readonly<Record<string, ResponseSchema>>
}

/** Parameters of one place, by name. Those of a path are required, no others are. */
export interface ParameterSchemas {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, ParameterSchema>>
  readonly required?: readonly string[]
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
  /** `undefined`: an answer without a body. */
  readonly content?: MediaTypes
}

export interface HeaderSchema {
  readonly type: string
  readonly description: string
}

/** JSON Schemas by media type. */
export type MediaTypes = Readonly<Record<string, { readonly schema: object }>>
