/** Where a request comes from: the networks that a key may be used from, wrong keys of a network (D10), and proxies nobody told us of. */
import type { Logger } from 'pino'
import type { Request } from '../../http/exchange.ts'
import type { Bucket, TokenBuckets } from '../../http/rate-limit/token-bucket.ts'
import { clientAddress, networkOf } from '../../http/requests/client-address.ts'
import type { NodeState } from '../../nodes/announce-node.ts'
import type { VerifiedKey } from '../index.ts'

/** What is known about networks. */
export interface NetworkContext {
  /** Buckets by the caller's network (D10). */
  readonly failureBuckets: TokenBuckets
  /** The number of our own proxies in front of the service, whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: number
}

/** Where a proxy is noticed. */
export interface ProxyContext extends Pick<NetworkContext, 'trustedProxies'> {
  /** What this node knows about itself and other nodes. */
  readonly node: NodeState
  readonly log: Logger
}

/** The bucket for failures of the caller's network. Ask for it at once: a closed connection has no address. */
export function failuresOf(context: NetworkContext, request: Request): Bucket {
  return context.failureBuckets.of(networkOf(addressOf(context, request)))
}

function addressOf({ trustedProxies }: Pick<NetworkContext, 'trustedProxies'>, request: Request): string {
  return clientAddress(request.remote, request.header('x-forwarded-for'), trustedProxies)
}

/** Whether the key may be used from the network that the request comes from. */
export function isFromItsNetwork(
  context: Pick<NetworkContext, 'trustedProxies'>,
  request: Request,
  { networks }: VerifiedKey,
): boolean {
  return networks?.has(addressOf(context, request)) !== false
}

/** Notices a proxy that the service was not told about (D10). Only for requests with a valid key, so that strangers cannot cause the message. All clients of an untrusted proxy count as one address,
 * so the wrong keys of one of them use up the limit for all. The node logs it once, and `doctor` reports it.
 */
export function noteProxy({ trustedProxies, node, log }: ProxyContext, request: Request): void {
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
