/** Notices a proxy that the service was not told about (D10). */
import type { HttpContext } from '../context.ts'
import type { Request } from '../exchange.ts'

/**
 * Only for requests with a valid key, so that strangers cannot cause the message. All clients of an untrusted proxy count as one address,
 * so the wrong keys of one of them use up the limit for all. The node logs it once, and `doctor` reports it.
 */
export function noteProxy({ trustedProxies, node, log }: HttpContext, request: Request): void {
  if (trustedProxies > 0 || node.ignoresProxy || !isForwarded(request)) return
  node.ignoresProxy = true
  log.warn(
    'Clients come through a proxy (X-Forwarded-For or Forwarded) that is not trusted, so the wrong keys of all of them count against its address. ' +
      'If the proxy is yours, start with --trusted-proxies 1; if there are several in a row, with their number.',
  )
}

function isForwarded(request: Request): boolean {
  return request.header('x-forwarded-for') !== undefined || request.header('forwarded') !== undefined
}
