/**
 * The two reads of the contract, answered past the framework when nothing about the request is unusual: a plain target, a
 * valid key, a token left, a page or an event that is there. Everything else goes to the router, which also has these
 * operations and is the law: where a request is answered here, the router would have answered the same (tested).
 */
import type { Socket } from 'node:net'
import { feeds } from '@property-events/protocol'
import { whenThere } from '../../when-there.ts'
import type { HttpContext } from '../context.ts'
import { provenAccess } from './access.ts'
import type { DirectAccess } from './access.ts'
import type { DirectAnswer, DirectReading } from './answer.ts'
import type { PlainRequest } from './plain-head.ts'
import { readEventDirectly } from './read-event.ts'
import { readPageDirectly } from './read-page.ts'

/** A read under way. */
export interface DirectRead {
  /** The pattern of the router's route, for the metrics. */
  readonly route: string
  readonly access: DirectAccess
  /** Without an answer the router has to be asked; the token was given back. */
  readonly reading: DirectReading
}

/** `undefined`: the router's, and no token was taken. At once wherever the key was proven a moment ago. */
export type DirectReads = (
  request: PlainRequest,
  socket: Socket,
) => DirectRead | undefined | Promise<DirectRead | undefined>

export function directReads(context: HttpContext): DirectReads {
  const readWith = (request: PlainRequest, access: DirectAccess): DirectRead => {
    const reading = readOrPassOn(context, request, access)
    const orRefund = (answer: DirectAnswer | undefined): DirectAnswer | undefined => {
      if (answer === undefined) context.requestBuckets.refund(access.keyId)
      return answer
    }
    return {
      route: request.target.route,
      access,
      reading: whenThere(reading, orRefund),
    }
  }

  return (request, socket) => {
    const { target, keyBytes, headers } = request
    const asker = { key: keyBytes, socket, forwardedFor: headers.forwardedFor }
    const access = provenAccess(context, asker, feeds[target.feed].readScope)
    return whenThere(access, (proven) => proven && readWith(request, proven))
  }
}

/** What fails here fails on the long way too, with a problem for an answer. */
function readOrPassOn(...asked: Parameters<typeof read>): DirectReading {
  try {
    const reading = read(...asked)
    return reading instanceof Promise ? reading.catch(() => undefined) : reading
  } catch {
    return undefined
  }
}

function read(
  context: HttpContext,
  { target, headers }: PlainRequest,
  { tenantId }: DirectAccess,
): DirectReading {
  const { coding, ifNoneMatch } = headers
  const asked = { key: { tenantId, feed: target.feed }, coding, ifNoneMatch }
  return target.kind === 'event'
    ? readEventDirectly(context, asked, target.eventId)
    : readPageDirectly(context, asked, target)
}
