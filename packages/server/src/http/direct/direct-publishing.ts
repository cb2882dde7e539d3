/**
 * Publishing inside Node's HTTP, which is where a request in several pieces ends up, past the framework where nothing about its
 * head is unusual. What is unusual goes to the router untouched, before a byte of the body was read; from then on the request is
 * answered here, with what the route answers: both ask `publish-request.ts` (tested). By hand, the thread that serves needs some
 * 30 us less for each.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { feeds } from '@property-events/protocol'
import { acceptsMediaType } from '../accept.ts'
import type { HttpContext } from '../context.ts'
import { reportedRefusal } from '../errors.ts'
import { guardRequest } from '../guards.ts'
import { answerPublish, readPublishHead } from '../publish-request.ts'
import type { PublishHead } from '../publish-request.ts'
import { plainBodyFormat } from '../request-body.ts'
import { requestIdOf } from '../request-facts.ts'
import { directAccess } from './access.ts'
import type { Asker, DirectAccess } from './access.ts'
import { sendDirectly } from './answer-publish.ts'
import { readBody } from './read-body.ts'
import { publishTargets } from './target.ts'
import type { PublishTarget } from './target.ts'

/** All that was decided before the body. */
interface Accepted extends PublishTarget {
  readonly head: PublishHead
  readonly access: DirectAccess
}

/** Answers what it can and hands the rest to `router`, untouched. */
export function directPublishing(context: HttpContext, router: RequestListener): RequestListener {
  const targetOf = publishTargets(context.basePath)

  return (request, response) => {
    const startedMs = performance.now()
    const accepted = accept(context, request, response, targetOf)
    if (accepted === undefined) {
      router(request, response)
      return
    }
    publish(context, request, response, accepted, startedMs).catch((error: unknown) => {
      context.log.error({ err: error }, 'request failed')
      response.destroy()
    })
  }
}

/** Takes a token, last of all. `undefined`, with none taken: the router decides. */
function accept(
  context: HttpContext,
  request: IncomingMessage,
  response: ServerResponse,
  targetOf: (target: string) => PublishTarget | undefined,
): Accepted | undefined {
  // A pipelined request whose predecessor is still being answered has no socket yet; it waits on the long way.
  if (request.method !== 'POST' || response.socket === null) return undefined
  const url = request.url ?? ''
  const target = targetOf(url)
  if (target === undefined || !isPlain(context, request, url)) return undefined
  const head = readPublishHead(url, request.headers, context.limits)
  if (head.kind === 'refused') return undefined
  const asker = askerOf(request)
  const access = asker && directAccess(context, asker, feeds[target.feed].publishScope)
  return access && { ...target, head, access }
}

function askerOf({ headers, socket }: IncomingMessage): Asker | undefined {
  const { 'x-api-key': key, 'x-forwarded-for': hops } = headers
  if (typeof key !== 'string') return undefined
  const forwardedFor = Array.isArray(hops) ? hops.join(',') : hops
  return { key, socket, forwardedFor }
}

function isPlain(context: HttpContext, request: IncomingMessage, url: string): boolean {
  const { headers } = request
  return (
    !context.stopping() &&
    Number(headers['content-length'] ?? 0) > 0 &&
    plainBodyFormat(headers['content-type']) !== undefined &&
    headers['transfer-encoding'] === undefined &&
    headers['content-encoding'] === undefined &&
    headers.expect === undefined &&
    acceptsMediaType(headers.accept, 'application/json') &&
    guardRequest(request, url, context.limits) === undefined
  )
}

async function publish(
  context: HttpContext,
  request: IncomingMessage,
  response: ServerResponse,
  { feed, route, head, access }: Accepted,
  startedMs: number,
): Promise<void> {
  const requestId = requestIdOf(request)
  const body = await readBody(request, Number(request.headers['content-length']))
  // There is nobody to answer. What was broken or too slow was told and logged where Node found it; the route says no more.
  if (body === undefined) return
  const key = { tenantId: access.tenantId, feed }
  const answered = await answerPublish(context, key, head, body).catch((error: unknown) => ({
    kind: 'refused' as const,
    refusal: reportedRefusal(context, requestId, error),
  }))
  sendDirectly(context, { request, response, route, startedMs, access, requestId }, answered)
}
