/** The key of a request that is answered directly: nothing about it is wrong. */
import type { Socket } from 'node:net'
import type { Scope } from '@property-events/protocol'
import { clientNetwork } from '../client-address.ts'
import type { VerifiedKey } from '../../keys/index.ts'
import type { HttpContext } from '../context.ts'
import type { BucketState } from '../token-bucket.ts'

export interface DirectAccess {
  readonly tenantId: string
  readonly keyId: string
  /** After this request's token was taken. */
  readonly tokens: BucketState
}

/** Who asks, as far as a request says. */
export interface Asker {
  readonly key: string | Buffer
  readonly socket: Pick<Socket, 'remoteAddress'>
  readonly forwardedFor: string | undefined
}

/** Takes a token. `undefined`, with none taken: the router decides, and says why. */
export function directAccess(context: HttpContext, asker: Asker, scope: Scope): DirectAccess | undefined {
  if (isSuspect(context, asker)) return undefined
  const key = context.verifier.verifyKnown(asker.key)
  return key && accessWith(context, key, scope)
}

/** The same, with a key that was not proven a moment ago proven first. */
export function provenAccess(
  context: HttpContext,
  asker: Asker & { readonly socket: Pick<Socket, 'destroyed' | 'readableEnded'> },
  scope: Scope,
): DirectAccess | undefined | Promise<DirectAccess | undefined> {
  if (isSuspect(context, asker)) return undefined
  const { verifier, failureBuckets } = context
  const key = verifier.verifyKnown(asker.key)
  if (key !== undefined) return accessWith(context, key, scope)
  const { socket } = asker
  // Now, as a connection that was closed has no address.
  const network = networkOf(context, asker)
  return verifier.verify(asker.key.toString()).then(
    (verdict) => {
      if (verdict.kind === 'valid') return accessWith(context, verdict.key, scope)
      // The router counts it, but is not asked for a client that has gone, or shut down its side, meanwhile.
      if (verdict.kind === 'unknown' && (socket.destroyed || socket.readableEnded))
        failureBuckets.charge(network)
      return undefined
    },
    () => undefined,
  )
}

/** Whether too many keys from this address were wrong. While none was since the start, there is no address to look up. */
function isSuspect(context: HttpContext, asker: Asker): boolean {
  const { failureBuckets } = context
  return failureBuckets.size > 0 && !failureBuckets.peek(networkOf(context, asker)).allowed
}

function networkOf({ trustedProxies }: HttpContext, { socket, forwardedFor }: Asker): string {
  return clientNetwork(socket.remoteAddress, forwardedFor, trustedProxies)
}

function accessWith(
  { requestBuckets }: HttpContext,
  { keyId, grants }: VerifiedKey,
  scope: Scope,
): DirectAccess | undefined {
  let tenantId: string | undefined
  for (const grant of grants) {
    if (!grant.scopes.includes(scope)) continue
    if (tenantId !== undefined) return undefined
    tenantId = grant.tenantId
  }
  if (tenantId === undefined) return undefined
  const tokens = requestBuckets.take(keyId)
  return tokens.allowed ? { tenantId, keyId, tokens } : undefined
}
