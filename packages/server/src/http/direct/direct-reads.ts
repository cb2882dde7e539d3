/**
 * The two reads of the contract, answered past the framework when nothing about the request is unusual: a plain target, a
 * key proven a moment ago, a page or an event that is there. Everything else goes to the router, which also has these
 * operations and is the law: where a request is answered here, the router would have answered the same (tested). A
 * get-by-id takes 33 to 39 us here, and took 62 us there.
 */
import type { IncomingMessage, RequestListener } from 'node:http'
import { feeds } from '@property-events/protocol'
import { acceptsMediaType, preferredCoding } from '../accept.ts'
import type { HttpContext } from '../context.ts'
import { guardRequest } from '../guards.ts'
import { minSequenceHeader } from '../min-sequence.ts'
import { directAccess } from './access.ts'
import type { DirectAccess } from './access.ts'
import { answerDirectly } from './answer.ts'
import type { DirectAnswer, DirectReading } from './answer.ts'
import { readEventDirectly } from './read-event.ts'
import { readPageDirectly } from './read-page.ts'
import { directTargets } from './target.ts'
import type { DirectTarget } from './target.ts'

/** Answers what it can and hands the rest to `router`, untouched. */
export function directReads(context: HttpContext, router: RequestListener): RequestListener {
  const targetOf = directTargets(context.basePath)

  return (request, response) => {
    const startedMs = performance.now()
    // A pipelined request whose predecessor is still being answered has no socket yet: answering it would only fill memory.
    const target =
      response.socket !== null && isPlain(context, request) ? targetOf(request.url ?? '') : undefined
    const access =
      target === undefined ? undefined : directAccess(context, request, feeds[target.feed].readScope)
    if (target === undefined || access === undefined) {
      router(request, response)
      return
    }
    const settle = (answer: DirectAnswer | undefined): void => {
      if (answer !== undefined) {
        answerDirectly(context, { request, response, route: target.route, startedMs, access }, answer)
        return
      }
      context.requestBuckets.refund(access.keyId)
      router(request, response)
    }
    const fail = (error: unknown): void => {
      context.log.error({ err: error }, 'request failed')
      response.destroy()
    }
    try {
      const reading = readOrPassOn(context, request, target, access)
      if (reading instanceof Promise) reading.then(settle).catch(fail)
      else settle(reading)
    } catch (error) {
      fail(error)
    }
  }
}

/** Whether a request is one of those that are answered here, as far as its head line and headers say. */
function isPlain(context: HttpContext, request: IncomingMessage): boolean {
  const { method, headers } = request
  return (
    method === 'GET' &&
    !context.stopping() &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    headers[minSequenceHeader] === undefined &&
    acceptsMediaType(headers.accept, 'application/json') &&
    guardRequest(request, request.url ?? '', context.limits) === undefined
  )
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
  request: IncomingMessage,
  target: DirectTarget,
  { tenantId }: DirectAccess,
): DirectReading {
  const asked = {
    key: { tenantId, feed: target.feed },
    coding: preferredCoding(request.headers['accept-encoding']),
    ifNoneMatch: request.headers['if-none-match'],
  }
  return target.kind === 'event'
    ? readEventDirectly(context, asked, target.eventId)
    : readPageDirectly(context, asked, target.queryText)
}
