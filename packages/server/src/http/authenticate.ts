/** From the `x-api-key` header to what the key may do here (spec §5, D7, D10). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '@property-events/protocol'
import type { KeyVerdict, VerifiedKey } from '../keys/index.ts'
import type { Grant } from '../storage/storage.ts'
import { clientNetwork } from './client-address.ts'
import type { HttpContext } from './context.ts'
import type { ProblemCode, Refusal } from './problem.ts'
import { rateLimitHeaders, retryAfter } from './rate-limit.ts'
import { factsOf } from './request-facts.ts'
import { sendProblem } from './send.ts'

/** What a route asks of a key. */
export interface AccessNeed {
  /** `anyRead`: a read scope of any feed, for any number of tenants. */
  readonly scope: Scope | 'anyRead'
  /** The spec knows only 401 for a key that may not read a feed (D7); our own routes answer 403. */
  readonly refusal: 'spec' | 'own'
}

type Access =
  | { readonly kind: 'granted'; readonly tenantId: string | undefined; readonly grants: readonly Grant[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * An onRequest hook: a request gets no further without a key that grants the scope for exactly one tenant, and without
 * a token of its rate limit. Runs before a body is read, so that strangers cannot make the service read 16 MiB.
 */
export function requireAccess(context: HttpContext, need: AccessNeed) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const access = await authenticate(context, request, reply, need)
    if (access.kind === 'refused') return sendProblem(request, reply, context.basePath, access.refusal)
    const facts = factsOf(request)
    if (access.tenantId !== undefined) facts.tenantId = access.tenantId
    facts.grants = access.grants
    return undefined
  }
}

/** The tenant a request may act for. Only for routes behind `requireAccess`. */
export function tenantOf(request: FastifyRequest): string {
  const { tenantId } = factsOf(request)
  if (tenantId === undefined) throw new Error('a route asks for the tenant without requiring access')
  return tenantId
}

/** What the key was granted. Only for routes behind `requireAccess`. */
export function grantsOf(request: FastifyRequest): readonly Grant[] {
  return factsOf(request).grants ?? []
}

async function authenticate(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  need: AccessNeed,
): Promise<Access> {
  const { verifier, failureBuckets, requestBuckets } = context
  const text = keyText(request)
  const forwardedFor = request.headers['x-forwarded-for']
  const network = clientNetwork(
    request.raw.socket.remoteAddress,
    Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor,
    context.trustedProxies,
  )
  // Before the store is asked. A key that was right within the last minute does not suffer from its neighbours (D10).
  const failures = failureBuckets.peek(network)
  if (!failures.allowed && !verifier.verifiedWithinMinute(text)) {
    return refused({ code: 'too_many_failures', headers: retryAfter(failures) })
  }
  const verdict = await verifier.verify(text)
  if (verdict.kind === 'unknown') {
    failureBuckets.charge(network)
    return refused({ code: 'unauthorized' })
  }
  factsOf(request).keyId = verdict.key.keyId
  const tokens = requestBuckets.take(verdict.key.keyId)
  reply.headers(rateLimitHeaders(context.limits.requests, tokens))
  if (!tokens.allowed) return refused({ code: 'rate_limited', headers: retryAfter(tokens) })
  if (verdict.kind !== 'valid') return refused({ code: standingCodes[verdict.kind] })
  return grantedAccess(verdict.key, need)
}

/** Keys come in this header only: one in the query, a cookie or the body is not looked at. */
function keyText(request: FastifyRequest): string | undefined {
  const value = request.headers['x-api-key']
  return typeof value === 'string' ? value : undefined
}

const standingCodes = {
  expired: 'key_expired',
  revoked: 'key_revoked',
  disabled: 'key_disabled',
} as const satisfies Record<Exclude<KeyVerdict['kind'], 'valid' | 'unknown'>, ProblemCode>

function grantedAccess(key: VerifiedKey, need: AccessNeed): Access {
  const { scope } = need
  if (scope === 'anyRead') {
    const readable = key.grants.some(({ scopes }) => scopes.some((held) => held.endsWith(':read')))
    if (readable) return { kind: 'granted', tenantId: undefined, grants: key.grants }
    return refused({ code: 'missing_scope', detail: 'This operation needs a key with a read scope.' })
  }
  const grants = key.grants.filter((grant) => grant.scopes.includes(scope))
  const [grant] = grants
  if (grant !== undefined && grants.length === 1) return { kind: 'granted', tenantId: grant.tenantId, grants }
  if (need.refusal === 'spec') {
    const detail =
      grants.length > 1
        ? 'This key reads this feed of several tenants; use one that reads exactly one.'
        : `This key does not have the scope ${need.scope}. Ask the operator for one that does.`
    return refused({ code: 'key_scope', detail })
  }
  if (grants.length > 1) return refused({ code: 'ambiguous_tenant' })
  return refused({
    code: 'missing_scope',
    detail: `This operation needs a key with the scope ${need.scope}.`,
  })
}

function refused(refusal: Refusal): Access {
  return { kind: 'refused', refusal }
}
