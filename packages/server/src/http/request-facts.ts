import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Grant } from '../storage/storage.ts'
import type { ProblemCode } from './problem.ts'

/** What became known about a request on its way; for its log line, its metrics and the steps that follow. */
export interface RequestFacts {
  readonly startedMs: number
  /** Set when the request was refused. */
  problem?: ProblemCode
  /** Set once the key is known to be valid. */
  keyId?: string
  /** Set once the key is known to grant what the route needs. */
  tenantId?: string
  /** What the key was granted, once it is known to be valid. */
  grants?: readonly Grant[]
}

const factsOfRequests = new WeakMap<FastifyRequest, RequestFacts>()

/** The facts of a request, made on first asking. */
export function factsOf(request: FastifyRequest): RequestFacts {
  const known = factsOfRequests.get(request)
  if (known !== undefined) return known
  const facts: RequestFacts = { startedMs: performance.now() }
  factsOfRequests.set(request, facts)
  return facts
}

/** 40 random bits per process and a counter: unique in the log, and cheap. */
const idPrefix = randomBytes(5).toString('hex')
let lastId = 0

/** The id of a request, by its headers. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return chosenRequestId(headers['x-request-id'])
}

/**
 * The caller's own `x-request-id` when it is 1 to 64 letters, digits or `. _ -` and does not look like a key; else a
 * new one.
 */
export function chosenRequestId(given: string | readonly string[] | undefined): string {
  if (typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) && !given.includes('pev_'))
    return given
  return newRequestId()
}

export function newRequestId(): string {
  lastId += 1
  return `${idPrefix}-${lastId.toString(36)}`
}

/** Every answer of a request carries these. */
export function commonHeaders(requestId: string): Readonly<Record<string, string>> {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
}
