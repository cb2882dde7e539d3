import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
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
  /** For the OpenAPI document only; the service reads parameters and bodies itself. */
  readonly schema: FastifySchema
  /** Runs once a key is accepted, before a body is read. */
  readonly beforeBody?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>
  /** Answers the request. `undefined`: it was answered past the framework. */
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>
}
