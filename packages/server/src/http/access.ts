/** From the `x-api-key` header to what the key may do here (spec §5, D7, D10). The only place that decides it. */
import type { Scope } from '@property-events/protocol'
import type { KeyVerdict, VerifiedKey } from '../keys/index.ts'
import type { HttpContext } from './context.ts'
import { refused } from './exchange.ts'
import type { Access, Exchange, Refused, Request } from './exchange.ts'
import type { ProblemCode } from './problem.ts'
import { retryAfter } from './rate-limit.ts'
import { clientNetwork } from './requests/client-address.ts'

/** What an operation asks of a key. */
export interface AccessNeed {
  /** `anyRead`: a read scope of any feed, for any number of tenants. */
  readonly scope: Scope | 'anyRead'
  /** The spec knows only 401 for a key that may not read a feed (D7); our own operations answer 403. */
  readonly refusal: 'spec' | 'own'
}

/**
 * A request gets no further without a key that grants the scope for exactly one tenant, and without a token of its rate limit.
 * Decided before a body is read, so that strangers cannot make the service read 16 MiB. At once for a key that was proven less
 * than a second ago. Writes what it learns of the key into the exchange. Rejects as the store does.
 */
export function requireAccess(
  context: HttpContext,
  exchange: Exchange,
  need: AccessNeed,
): Access | Refused | Promise<Access | Refused> {
  const { verifier, failureBuckets } = context
  const { request } = exchange
  const { credential } = request
  // While no key was wrong since the start, there is no address to look up.
  if (failureBuckets.size > 0) {
    const failures = failureBuckets.peek(networkOf(context, request))
    // Before the store is asked. A key that was right within the last minute does not suffer from its neighbours (D10).
    if (!failures.allowed && !verifier.verifiedWithinMinute(credential?.toString())) {
      return refused({ code: 'too_many_failures', headers: retryAfter(failures) })
    }
  }
  const known = credential === undefined ? undefined : verifier.verifyKnown(credential)
  if (known !== undefined) return admitKey(context, exchange, need, { kind: 'valid', key: known })
  // Now, as a connection that was closed has no address.
  const network = networkOf(context, request)
  return verifier.verify(credential?.toString()).then((verdict) => {
    if (verdict.kind !== 'unknown') return admitKey(context, exchange, need, verdict)
    failureBuckets.charge(network)
    return refused({ code: 'unauthorized' })
  })
}

function networkOf({ trustedProxies }: HttpContext, request: Request): string {
  return clientNetwork(request.remote, request.header('x-forwarded-for'), trustedProxies)
}

const standingCodes = {
  expired: 'key_expired',
  revoked: 'key_revoked',
  disabled: 'key_disabled',
} as const satisfies Record<Exclude<KeyVerdict['kind'], 'valid' | 'unknown'>, ProblemCode>

function admitKey(
  { requestBuckets }: HttpContext,
  exchange: Exchange,
  need: AccessNeed,
  verdict: Exclude<KeyVerdict, { kind: 'unknown' }>,
): Access | Refused {
  const { keyId } = verdict.key
  exchange.keyId = keyId
  const tokens = requestBuckets.take(keyId)
  exchange.tokens = tokens
  if (!tokens.allowed) return refused({ code: 'rate_limited', headers: retryAfter(tokens) })
  if (verdict.kind !== 'valid') return refused({ code: standingCodes[verdict.kind] })
  const access = grantedAccess(verdict.key, need)
  if (access.kind === 'granted') exchange.tenantId = access.tenantId
  return access
}

function grantedAccess({ grants }: VerifiedKey, { scope, refusal }: AccessNeed): Access | Refused {
  if (scope === 'anyRead') {
    const readable = grants.some(({ scopes }) => scopes.some((held) => held.endsWith(':read')))
    if (readable) return { kind: 'granted', tenantId: undefined, grants }
    return refused({ code: 'missing_scope', detail: 'This operation needs a key with a read scope.' })
  }
  let tenantId: string | undefined
  let tenants = 0
  for (const grant of grants) {
    if (!grant.scopes.includes(scope)) continue
    tenants += 1
    tenantId = grant.tenantId
  }
  if (tenants === 1) return { kind: 'granted', tenantId, grants }
  if (refusal === 'spec') {
    const detail =
      tenants > 1
        ? 'This key reads this feed of several tenants; use one that reads exactly one.'
        : `This key does not have the scope ${scope}. Ask the operator for one that does.`
    return refused({ code: 'key_scope', detail })
  }
  if (tenants > 1) return refused({ code: 'ambiguous_tenant' })
  const detail = `This operation needs a key with the scope ${scope}.`
  return refused({ code: 'missing_scope', detail })
}
