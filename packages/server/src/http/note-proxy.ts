/** Notices a proxy that the service was not told of (D10). */
import type { HttpContext } from './context.ts'
import type { Request } from './exchange.ts'

/**
 * Only for requests with a key that is one, so that no stranger can have it said: all clients of a proxy that is not trusted count as one
 * address, and the wrong keys of one of them have wrong keys of all refused. Said once in the log of a node, and to `doctor`.
 */
export function noteProxy({ trustedProxies, node, log }: HttpContext, request: Request): void {
  if (trustedProxies > 0 || node.ignoresProxy || !isForwarded(request)) return
  if (!node.noteIgnoredProxy()) return
  log.warn(
    'Clients come through a proxy (X-Forwarded-For or Forwarded), and none is trusted: wrong keys are counted under its address for all of them. ' +
      'If it is yours, start with --trusted-proxies 1, or with as many as there are one after another.',
  )
}

function isForwarded(request: Request): boolean {
  return request.header('x-forwarded-for') !== undefined || request.header('forwarded') !== undefined
}
