/** What an operation needs of a key, and what a key grants to the request it came with. Who decides is given to `handle`. */
import type {
  AdminScope,
  ContactLimits,
  FeedName,
  GrantScope,
  NumberingName,
  Scope,
} from '@property-events/protocol'

/**
 * What an administration operation needs: an operator key with the scope, or a key with what `mayAdminister` wants for some tenant; the
 * operation checks which. `anyKey`: no scope.
 */
export type AdminNeed = AdminScope | 'anyKey'

/** `anyFeed`: any scope to read or publish. */
type AnyScope = 'anyRead' | 'anyPublish' | 'anyFeed' | 'anyErase' | 'anyWebhooks'

/** How the names of such scopes end, and which they are, in words. */
export const anyScopes: Readonly<Record<AnyScope, readonly [RegExp, string]>> = {
  anyRead: [/:read$/, 'the scope property:read or contact:read'],
  anyPublish: [/:publish$/, 'the scope property:publish or contact:publish'],
  anyFeed: [/:(?:read|publish)$/, 'a scope that reads or publishes, such as property:read'],
  anyErase: [/:erase$/, 'the scope property:erase or contact:erase'],
  anyWebhooks: [/:webhooks$/, 'the scope property:webhooks or contact:webhooks'],
}

export function isAnyScope(scope: AccessNeed['scope']): scope is AnyScope {
  return Object.hasOwn(anyScopes, scope)
}

/** Whether `scope` is one of those that `any` stands for. */
export function isOfAny(any: AnyScope, scope: GrantScope): boolean {
  return anyScopes[any][0].test(scope)
}

/** What an operation needs from a key. */
export interface AccessNeed {
  /** `anyRead` and the like: such a scope for any feed, for any number of tenants; the operation checks which. */
  readonly scope: Scope | AnyScope | AdminNeed
  /** A scope that also opens the operation, to a key that has the first for no tenant. */
  readonly orScope?: Scope
  /** The spec knows only 401 for a key that may not read a feed (D7); our own operations answer 403. */
  readonly refusal: 'spec' | 'own'
  /** The request came through the console with a session; its key header is ignored. */
  readonly throughConsole?: true
}

/** What a key may do for one tenant. */
interface GrantedTenant {
  readonly tenantId: string
  readonly scopes: readonly GrantScope[]
  /** Which contact data can be read; left out: all of it. */
  readonly contact?: ContactLimits
  /** Only properties of these branches; left out: all. */
  readonly branches?: readonly string[]
}

/** How a key reads, if not in the usual way (D12). */
interface KeyView {
  /** Whose numbers the event types have; `undefined`: the store's. */
  readonly eventTypes: NumberingName | undefined
  /** Its lists show current events only, unless a request says otherwise. */
  readonly current: boolean
  /** The `transactionId` of each event is the reference of its subject (D15). */
  readonly references?: boolean
}

/** What a key grants to the request it came with. */
export interface Access {
  readonly kind: 'granted'
  /** `undefined` if the operation needs no key. */
  readonly keyId: string | undefined
  /** `undefined` if the operation reads feeds of any number of tenants, or needs no key. */
  readonly tenantId: string | undefined
  readonly grants: readonly GrantedTenant[]
  /** Limits the tenant's properties to these branches. `undefined`: all, or the request is not about one tenant. */
  readonly branches: readonly string[] | undefined
  /** Tenants of its grants whose branch events are still being collected, so that they cannot be read yet. */
  readonly viewsBeingMade: readonly string[]
  /** The scopes of an operator key, for administration operations only. */
  readonly adminScopes: readonly AdminScope[]
  /** How the key reads, if that differs from the default. */
  readonly reading: KeyView | undefined
  /** Which contact data of the tenant the key reads; left out: all of it. */
  readonly contact?: ContactLimits | undefined
  /** The tenant's receipts say nothing of duties by law. */
  readonly withoutDuties?: true
  /** The session that came in place of the key's text; left out if there is none. */
  readonly session?: OpenSession
  /** What the access was decided for, so that it can be decided again; left out if no key was needed. */
  readonly asked?: { readonly need: AccessNeed; readonly tenant: string | undefined }
}

/** A session of the console, as the request found it. */
export interface OpenSession {
  /** Whether it was begun within the last few minutes. */
  readonly isFresh: boolean
  /** Whether the session is still open; the call counts as using it. Rejects as the store does. */
  readonly isOpen: () => Promise<boolean>
}

/** The access of an operation that needs no key. */
export const openAccess: Access = {
  kind: 'granted',
  keyId: undefined,
  tenantId: undefined,
  grants: [],
  branches: undefined,
  viewsBeingMade: [],
  adminScopes: [],
  reading: undefined,
}

/** The feed that a request is about. Only for operations whose access is to one feed. */
export function feedKeyOf(
  { tenantId }: Access,
  feed: FeedName,
): { readonly tenantId: string; readonly feed: FeedName } {
  if (tenantId === undefined) throw new Error('an operation asks for the tenant without requiring access')
  return { tenantId, feed }
}
