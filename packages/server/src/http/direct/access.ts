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
  asker: Asker,
  scope: Scope,
): DirectAccess | undefined | Promise<DirectAccess | undefined> {
  if (isSuspect(context, asker)) return undefined
  const { verifier } = context
  const key = verifier.verifyKnown(asker.key)
  if (key !== undefined) return accessWith(context, key, scope)
  return verifier.verify(asker.key.toString()).then(
    (verdict) => (verdict.kind === 'valid' ? accessWith(context, verdict.key, scope) : undefined),
    () => undefined,
  )
}

/** Whether too many keys from this address were wrong. While none was since the start, there is no address to look up. */
function isSuspect(
  { failureBuckets, trustedProxies }: HttpContext,
  { socket, forwardedFor }: Asker,
): boolean {
  if (failureBuckets.size === 0) return false
  return !failureBuckets.peek(clientNetwork(socket.remoteAddress, forwardedFor, trustedProxies)).allowed
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
