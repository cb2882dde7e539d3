/**
 * The two reads of the contract, answered past the framework when nothing about the request is unusual: a plain target, a
 * key proven a moment ago, a page or an event that is there. Everything else goes to the router, which also has these
 * operations and is the law: where a request is answered here, the router would have answered the same (tested). A
 * get-by-id takes 20 us here and 62 us there.
 */
import type { IncomingMessage, RequestListener } from 'node:http'
import { feeds } from '@property-events/protocol'
import { pageOf } from '../../feed/list.ts'
import { acceptsMediaType, preferredCoding } from '../accept.ts'
import type { HttpContext } from '../context.ts'
import { eventTag, pageTag, tagMatches } from '../entity-tag.ts'
import { guardRequest } from '../guards.ts'
import { readListParameters } from '../list-parameters.ts'
import { minSequenceHeader } from '../min-sequence.ts'
import { eventBody } from '../send-event-bytes.ts'
import { directAccess } from './access.ts'
import type { DirectAccess } from './access.ts'
import { answerDirectly } from './answer.ts'
import type { DirectAnswer } from './answer.ts'
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
    const toRouter = (): void => {
      context.requestBuckets.refund(access.keyId)
      router(request, response)
    }
    read(context, request, target, access).then((answer) => {
      if (answer === undefined) toRouter()
      else answerDirectly(context, { request, response, route: target.route, startedMs, access }, answer)
    }, toRouter)
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

async function read(
  context: HttpContext,
  request: IncomingMessage,
  target: DirectTarget,
  { tenantId }: DirectAccess,
): Promise<DirectAnswer | undefined> {
  const coding = preferredCoding(request.headers['accept-encoding'])
  const ifNoneMatch = request.headers['if-none-match']
  if (target.kind === 'event') {
    const event = await context.events.readEvent({ tenantId, feed: target.feed }, target.eventId)
    if (event === undefined) return undefined
    const etag = eventTag(target.eventId, event.json, coding)
    if (tagMatches(ifNoneMatch, etag)) return { kind: 'notModified', etag, head: undefined }
    const { body, sent } = await eventBody(event.json, coding)
    return { kind: 'body', etag, head: undefined, body, coding: sent }
  }
  const reading = readListParameters(target.queryText, target.feed, context.limits)
  if (reading.kind === 'faults' || reading.ignored.length > 0) return undefined
  const { view, from, to, page, pageSize } = reading.parameters
  const key = { tenantId, feed: target.feed }
  const known = from === undefined && to === undefined ? context.ranges.known(key, view) : undefined
  const located =
    known ??
    (await context.ranges.locate({
      key,
      view,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    }))
  if (located === undefined) return undefined
  const found = pageOf(located, page, pageSize)
  const etag = pageTag({ key, ...reading.parameters }, found, coding)
  if (tagMatches(ifNoneMatch, etag)) return { kind: 'notModified', etag, head: located.head }
  const sent = found.range.count === 0 ? 'identity' : coding
  const made = context.pages.read(found, sent)
  const body = made instanceof Promise ? await made : made
  return { kind: 'body', etag, head: located.head, body, coding: sent }
}
