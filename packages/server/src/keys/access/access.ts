/** From the `x-api-key` header to what the key may do here (spec §5, D7, D10). No other file decides that. */
import { failuresOf, isFromItsNetwork, noteProxy } from './network.ts'
import type { NetworkContext, ProxyContext } from './network.ts'
import { anyScopes, isAnyScope, isOfAny } from '../../http/access.ts'
import type { Access, AccessNeed, AdminNeed, OpenSession } from '../../http/access.ts'
import type { Scope } from '@property-events/protocol'
import type { KeyVerdict, VerifiedKey } from '../index.ts'
import { whatIsMissing } from './missing-key.ts'
import { mayAdminister, tenantNeeds } from './reach.ts'
import { refused } from '../../http/exchange.ts'
import type { Refused, Request } from '../../http/exchange.ts'
import type { Exchange } from '../../http/routed.ts'
import type { ProblemCode, Refusal } from '../../http/problem/problem.ts'
import type { Grant } from '../key.ts'
import { retryAfter } from '../../http/rate-limit/rate-limit-headers.ts'
import type { Bucket } from '../../http/rate-limit/token-bucket.ts'
import { chosenTenant, tenantHeader } from '../../http/requests/tenant-choice.ts'
import { isViewBeingMade, viewBeingMade, whenViewMade } from './when-view-made.ts'
import type { KeyLimits } from '../../http/rate-limit/key-limits.ts'
import type { ViewWaitContext } from './when-view-made.ts'

/** Takes what a request through the console presents in place of a key. */
interface SessionDoor {
  /** Rejects as the store does. */
  enter(request: Request): Promise<EnteredSession | NotEntered>
}

export interface EnteredSession {
  readonly kind: 'session'
  readonly open: OpenSession
  /** The session's key, as it is now. */
  readonly verdict: Exclude<KeyVerdict, { kind: 'unknown' }>
}

export type NotEntered =
  /** There is no session, or it has ended. */
  { readonly kind: 'ended' } | { readonly kind: 'refused'; readonly refusal: Refusal }

/** What deciding about a key needs. */
export interface AccessContext extends NetworkContext, ProxyContext, ViewWaitContext {
  /** `undefined`: the console is off. */
  readonly door: SessionDoor | undefined
  readonly keyLimits: KeyLimits
  /** Whether test keys work (PROTOCOL §2.8). */
  readonly testKeys: boolean
}

/**
 * A request gets no further without a key that grants the scope for exactly one tenant, and without a token of its rate limit. This is
 * decided before a body is read, so that strangers cannot make the service read 16 MiB. The answer is immediate for a key that was
 * verified less than a second ago. What becomes known about the key is written into the exchange. Rejects as the store does.
 */
export function requireAccess(
  context: AccessContext,
  exchange: Exchange,
  need: AccessNeed,
): Access | Refused | Promise<Access | Refused> {
  if (need.throughConsole === true) return requireSession(context, exchange, need)
  const { verifier } = context
  const { request } = exchange
  const { credential } = request
  const known = credential === undefined ? undefined : verifier.verifyKnown(credential)
  if (known !== undefined) return admitKey(context, exchange, need, { kind: 'valid', key: known })
  const text = credential?.toString()
  const bucket = failuresOf(context, request)
  const failures = bucket.peek()
  const verdict = failures.allowed ? verifier.verify(text) : verifier.verifyAmongGuesses(text)
  return verdict.then((given) => {
    if (given.kind !== 'unknown') {
      noteProxy(context, request)
      return admitKey(context, exchange, need, given)
    }
    if (!failures.allowed) return refused({ code: 'too_many_failures', headers: retryAfter(failures) })
    bucket.charge()
    return refused({ code: 'unauthorized', detail: whatIsMissing(context.testKeys, request, text) })
  })
}

/** Access for requests through the console (D31). What the key of the session may do is decided as for any other request. */
async function requireSession(
  context: AccessContext,
  exchange: Exchange,
  need: AccessNeed,
): Promise<Access | Refused> {
  const bucket = failuresOf(context, exchange.request)
  const entered = await context.door?.enter(exchange.request)
  if (entered?.kind !== 'session') return refusalAtDoor(entered, bucket)
  const { verdict, open } = entered
  const access = await admitKey(context, exchange, need, verdict)
  return access.kind === 'refused' ? access : { ...access, session: open }
}

/** Why a console request gets no further. Without a session it counts as a request without a key. */
export function refusalAtDoor(entered: NotEntered | undefined, bucket: Bucket): Refused {
  if (entered?.kind === 'refused') return refused(entered.refusal)
  const failures = bucket.peek()
  if (!failures.allowed) return refused({ code: 'too_many_failures', headers: retryAfter(failures) })
  bucket.charge()
  return refused({ code: 'console_session_ended' })
}

/** The codes for a key that was valid once. */
export const endedKeyCodes = {
  expired: 'key_expired',
  revoked: 'key_revoked',
  disabled: 'key_disabled',
} as const satisfies Record<Exclude<KeyVerdict['kind'], 'valid' | 'unknown'>, ProblemCode>

function admitKey(
  context: AccessContext,
  exchange: Exchange,
  need: AccessNeed,
  verdict: Exclude<KeyVerdict, { kind: 'unknown' }>,
): Access | Refused | Promise<Access | Refused> {
  const { keyLimits } = context
  exchange.keyId = verdict.key.keyId
  const refusal = keyLimits.admit(exchange, verdict.key)
  if (refusal !== undefined) return refusal
  const tenant = chosenTenant(exchange.request, exchange.routed.tenants)
  const decide = (given: KeyVerdict) => decideAccess(context, exchange.request, given, need, tenant)
  const access = decide(verdict)
  if (!isViewBeingMade(access)) return admitTenant(context, exchange, access)
  const { keyId } = verdict.key
  return whenViewMade(context, exchange.request, keyId, access, decide).then((made) =>
    admitTenant(context, exchange, made),
  )
}

function admitTenant({ keyLimits }: AccessContext, exchange: Exchange, access: Access | Refused) {
  if (access.kind === 'refused' || access.tenantId === undefined) return access
  exchange.tenantId = access.tenantId
  return keyLimits.admitTenant(exchange, access.tenantId) ?? access
}

/**
 * What the key may do for a request as far as is known now. It is asked when the request arrives, and again for as long as it waits or is
 * being answered (still-granted.ts). `tenant`: as `chosenTenant` has it.
 */
export function decideAccess(
  context: Pick<NetworkContext, 'trustedProxies'>,
  request: Request,
  verdict: KeyVerdict,
  need: AccessNeed,
  tenant: ReturnType<typeof chosenTenant>,
): Access | Refused {
  if (verdict.kind === 'unknown') return refused({ code: 'unauthorized' })
  if (verdict.kind !== 'valid') return refused({ code: endedKeyCodes[verdict.kind] })
  const { key } = verdict
  if (!isFromItsNetwork(context, request, key)) return refused({ code: 'key_network' })
  if (tenant === undefined) return knownAccess(key, need)
  if (typeof tenant === 'object') return refused(tenant)
  const own = keyOfTenant(key, tenant)
  const access = grantedAccess(own, need)
  if (access.kind === 'refused' && own.grants.length === 0 && key.grants.length > 0)
    return refused({ code: need.refusal === 'spec' ? 'key_scope' : 'missing_scope', detail: otherTenant })
  return access.kind === 'refused' ? access : { ...access, asked: { need, tenant } }
}

/** The same for tenants that there are not. */
const otherTenant = `This key has no scope for the tenant that ${tenantHeader} or ?tenant= names. Leave it out if the key is of one tenant alone, or name one of the key's own: GET /v1/admin/self lists them.`

const publishingEnded = {
  code: 'key_disabled',
  detail:
    'The tenant of this key is leaving this service, so nothing can be published for it any more. Ask the operator.',
} as const

/** The key as if it had no grants for other tenants. */
function keyOfTenant(key: VerifiedKey, tenantId: string): VerifiedKey {
  return { ...key, grants: grantsByTenant(key.grants).get(tenantId) ?? [] }
}

/**
 * A key's grants stay one object until the key changes, so they can be a map's key. Searching 10,000 grants for each request took as long
 * as a page.
 */
const byTenant = new WeakMap<readonly Grant[], ReadonlyMap<string, readonly Grant[]>>()

function grantsByTenant(grants: readonly Grant[]): ReadonlyMap<string, readonly Grant[]> {
  const known = byTenant.get(grants)
  if (known !== undefined) return known
  const made = Map.groupBy(grants, (grant) => grant.tenantId)
  byTenant.set(grants, made)
  return made
}

/**
 * What a key may do depends only on the verified key and on the operation's need, so it is computed once and not for each request. The
 * entry lives no longer than both of them: the console makes new needs for each request.
 */
const accesses = new WeakMap<VerifiedKey, WeakMap<AccessNeed, Access | Refused>>()

function knownAccess(key: VerifiedKey, need: AccessNeed): Access | Refused {
  let known = accesses.get(key)
  if (known === undefined) accesses.set(key, (known = new WeakMap()))
  let access = known.get(need)
  if (access === undefined) {
    const made = grantedAccess(key, need)
    access = made.kind === 'refused' ? made : { ...made, asked: { need, tenant: undefined } }
    known.set(need, access)
  }
  return access
}

function grantedAccess(key: VerifiedKey, { scope, orScope, refusal }: AccessNeed): Access | Refused {
  const { keyId, grants, reading, viewsBeingMade } = key
  if (isAdminNeed(scope)) return administratingAccess(key, scope)
  if (isAnyScope(scope)) {
    const words = anyScopes[scope][1]
    const isHeld = grants.some(({ scopes }) => scopes.some((held) => isOfAny(scope, held)))
    if (isHeld) return { ...manyTenants, keyId, grants, viewsBeingMade, adminScopes: [], reading }
    return refused({
      code: 'missing_scope',
      detail: `This operation needs a key with ${words}; ${scopesOf(key)}. Ask the operator for one that has it.`,
    })
  }
  let { held, tenants } = tenantWith(grants, scope)
  if (tenants === 0 && orScope !== undefined) ({ held, tenants } = tenantWith(grants, orScope))
  if (tenants === 1 && held !== undefined) {
    const { tenantId, branches, contact } = held
    if (scope.endsWith(':publish') && key.leavingTenantIds.includes(tenantId)) return refused(publishingEnded)
    // Every read of properties of the branches waits for their view, even one that could do without: a reader sees all of it or nothing.
    const isBeingMade = branches !== undefined && viewsBeingMade.includes(tenantId)
    const isRead = scope.endsWith(':read') || orScope?.endsWith(':read') === true
    if (isBeingMade && isRead) return refused(viewBeingMade)
    return {
      kind: 'granted',
      keyId,
      tenantId,
      grants,
      branches,
      viewsBeingMade,
      adminScopes: [],
      reading,
      contact,
      ...(key.withoutDuties.includes(tenantId) && { withoutDuties: true }),
    }
  }
  if (refusal === 'spec') {
    const detail =
      tenants > 1
        ? `This key reads this feed for several tenants. Name one in the header ${tenantHeader}.`
        : `This operation needs a key with the scope ${scope}; ${scopesOf(key)}. Ask the operator for one that has it.`
    return refused({ code: 'key_scope', detail })
  }
  if (tenants > 1) return refused({ code: 'ambiguous_tenant' })
  const words = orScope === undefined ? scope : `${scope} or ${orScope}`
  const detail = `This operation needs a key with the scope ${words}; ${scopesOf(key)}. Ask the operator for one that has it.`
  return refused({ code: 'missing_scope', detail })
}

/** What a key may do, for the answer that it may not do something else. */
function scopesOf({ grants, adminScopes }: VerifiedKey): string {
  const held = new Set([...grants.flatMap(({ scopes }) => scopes), ...adminScopes])
  return held.size === 0 ? 'this key has none' : `this key has ${[...held].join(', ')}`
}

/** The operation checks which tenant. */
const manyTenants = { kind: 'granted', tenantId: undefined, branches: undefined } as const

/** The number of tenants for which a key has the scope, and the last of these grants. */
function tenantWith(grants: readonly Grant[], scope: Scope) {
  let held: Grant | undefined
  let tenants = 0
  for (const grant of grants) {
    if (!grant.scopes.includes(scope)) continue
    tenants += 1
    held = grant
  }
  return { held, tenants }
}

function isAdminNeed(scope: AccessNeed['scope']): scope is AdminNeed {
  return scope === 'anyKey' || scope.startsWith('admin:')
}

function administratingAccess(key: VerifiedKey, need: AdminNeed): Access | Refused {
  const { keyId, grants, adminScopes, reading, viewsBeingMade } = key
  const isHeld =
    need === 'anyKey' || adminScopes.includes(need) || grants.some((grant) => mayAdminister(grant, need))
  if (isHeld) return { ...manyTenants, keyId, grants, viewsBeingMade, adminScopes, reading }
  const { scopes } = tenantNeeds[need]
  const detail = `This operation needs an operator key with the scope ${need}, or a key of the tenant with ${scopes.join(' and ')}; ${scopesOf(key)}. Ask the operator for one that has it.`
  return refused({ code: 'missing_scope', detail })
}
