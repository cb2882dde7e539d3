/** The key of a direct read, where nothing about it needs the store and nothing about it is wrong. */
import type { IncomingMessage } from 'node:http'
import type { Scope } from '@property-events/protocol'
import { clientNetwork } from '../client-address.ts'
import type { HttpContext } from '../context.ts'
import type { BucketState } from '../token-bucket.ts'

export interface DirectAccess {
  readonly tenantId: string
  readonly keyId: string
  /** After this request's token was taken. */
  readonly tokens: BucketState
}

/** Takes a token. `undefined`, with none taken: the router decides, and says why. */
export function directAccess(
  context: HttpContext,
  request: IncomingMessage,
  scope: Scope,
): DirectAccess | undefined {
  const { failureBuckets, requestBuckets, verifier } = context
  const text = request.headers['x-api-key']
  if (typeof text !== 'string') return undefined
  // While nobody has failed since the start, there is no address to look up.
  if (failureBuckets.size > 0 && !failureBuckets.peek(networkOf(context, request)).allowed) return undefined
  const key = verifier.verifyKnown(text)
  if (key === undefined) return undefined
  let tenantId: string | undefined
  for (const grant of key.grants) {
    if (!grant.scopes.includes(scope)) continue
    if (tenantId !== undefined) return undefined
    tenantId = grant.tenantId
  }
  if (tenantId === undefined) return undefined
  const tokens = requestBuckets.take(key.keyId)
  return tokens.allowed ? { tenantId, keyId: key.keyId, tokens } : undefined
}

function networkOf(context: HttpContext, request: IncomingMessage): string {
  const forwardedFor = request.headers['x-forwarded-for']
  return clientNetwork(
    request.socket.remoteAddress,
    Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor,
    context.trustedProxies,
  )
}
