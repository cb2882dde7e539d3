/** The one log line and the metrics of a request. */
import { nearestName } from '@property-events/protocol'
import { statusOf } from './answer-head.ts'
import type { HttpContext } from './context.ts'
import type { Answer } from './exchange.ts'
import type { Exchange } from './routed.ts'
import { pathOnly } from './requests/echo-text.ts'
import { withoutOrigin } from './requests/target.ts'

/**
 * Reports an exchange whose answer is with the kernel; `aborted`: the client went away before it had the answer. Neither log nor metrics
 * contain a query, a body or a header, because keys and personal data can be in those. The key's id and the tenant are in the log.
 */
export function reportExchange(
  { metrics, requestLines, recorder }: Pick<HttpContext, 'metrics' | 'requestLines' | 'recorder'>,
  exchange: Exchange,
  aborted: boolean,
): void {
  const { request, routed, answer, keyId, tenantId, problem } = exchange
  const status = statusOf(answer)
  const { method } = request
  const { route } = routed
  const endedMs = performance.now()
  const durationMs = endedMs - request.startedMs
  const seconds = durationMs / 1_000
  const bodyBytes = method === 'HEAD' ? 0 : bodyBytesOf(answer)
  recorder.ended(exchange, aborted, status, bodyBytes)
  metrics.requestDone({
    requestId: request.id,
    route,
    method,
    status,
    seconds,
    endedMs,
    problem,
    keyId,
    tenantId,
    bodyBytes,
  })
  if (!aborted && answer.kind === 'pieces' && answer.committedMs !== undefined) {
    metrics.live.delivered('long_poll', (Date.now() - answer.committedMs) / 1_000)
  }
  if (!requestLines.isWritten(status)) return
  const traceId = traceIdIn(request.header('traceparent'))
  const line = {
    requestId: request.id,
    ...(traceId === undefined ? {} : { traceId }),
    method,
    path: loggedPath(request.target, route),
    route,
    status,
    durationMs: Math.round(durationMs * 10) / 10,
    ...(problem === undefined ? {} : { problem }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(aborted ? { aborted } : {}),
  }
  requestLines.write(line)
}

function bodyBytesOf(answer: Answer): number {
  if (answer.kind === 'pieces') return answer.body.byteLength
  return answer.kind === 'text' ? answer.body.length : 0
}

/** The trace that a `traceparent` names (W3C Trace Context §3.2), so that the request's log line can be found by it. */
function traceIdIn(traceparent: string | undefined): string | undefined {
  if (traceparent === undefined) return undefined
  const [, version, traceId, parentId, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(traceparent) ?? []
  if (traceId === undefined || /^0+$/.test(traceId) || /^0+$/.test(parentId ?? '')) return undefined
  // Only later versions may have more fields than the first.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  return traceId
}

/**
 * A path as the log may have it: without anything in front of it, where passwords can be, and without the reference of a contact, in
 * place of which strangers may write a name (D18). `route`: its pattern, or `none`.
 */
export function loggedPath(target: string, route: string): string {
  if (route !== 'none') return isOfContact(route) ? route : pathOnly(withoutOrigin(target))
  return withoutContact(pathOnly(withoutOrigin(target)))
}

/**
 * A path that matches no route, up to what looks like the word before a reference, in any spelling: `/v1/Contact%73//…`,
 * `/v1/contcats/…`.
 */
function withoutContact(path: string): string {
  const segments = unescaped(path).split(/[/\\]+/)
  const at = segments.findIndex((segment) => /contact/i.test(segment) || nearestName(segment, contactWords))
  const segment = segments[at]
  if (segment === undefined) return path
  const isWord = contactWords.includes(segment.toLowerCase())
  if (isWord && at === segments.length - 1) return path
  return pathOnly([...segments.slice(0, at), isWord ? segment : 'contacts', 'hidden'].join('/'))
}

const contactWords: readonly string[] = [
  'contacts',
  'contact',
  'contactevents',
  'contact-events',
  'expiring-contacts',
]

/** Undoes percent-encoding as often as it was applied. The result is only for comparing, so bytes may stand for characters. */
function unescaped(text: string): string {
  let before = text
  for (;;) {
    const after = before.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
    if (after === before) return after
    before = after
  }
}

/** Whether the route has a parameter after a word for contacts, in place of which there may be anything. */
function isOfContact(route: string): boolean {
  return /contact.*\/:/.test(route)
}
