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
import type { AnswerUnderWay, DirectAnswer, DirectReading } from './answer.ts'
import type { PlainRead } from './plain-head.ts'
import { readEventDirectly } from './read-event.ts'
import { readPageDirectly } from './read-page.ts'

/** `undefined`: the router's, and no token was taken. At once wherever the key was proven a moment ago. */
export type DirectReads = (
  request: PlainRead,
  socket: Socket,
) => AnswerUnderWay | undefined | Promise<AnswerUnderWay | undefined>

export function directReads(context: HttpContext): DirectReads {
  const readWith = (request: PlainRead, access: DirectAccess): AnswerUnderWay => {
    const reading = readOrPassOn(context, request, access)
    const orRefund = (answer: DirectAnswer | undefined): DirectAnswer | undefined => {
      if (answer === undefined) context.requestBuckets.refund(access.keyId)
      return answer
    }
    return {
      route: request.target.route,
      access,
      answer: whenThere(reading, orRefund),
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
  { target, headers }: PlainRead,
  { tenantId }: DirectAccess,
): DirectReading {
  const { coding, ifNoneMatch } = headers
  const asked = { key: { tenantId, feed: target.feed }, coding, ifNoneMatch }
  return target.kind === 'event'
    ? readEventDirectly(context, asked, target.eventId)
    : readPageDirectly(context, asked, target)
}
