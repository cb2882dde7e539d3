/** Keys: what one may do, and how a database keeps it (D11). */
import {
  adminScopes,
  contactFields,
  contactRoleNames,
  grantScopes,
  isNumberingName,
} from '@property-events/protocol/plain'
import type { AdminScope, ContactLimits, GrantScope, NumberingName } from '@property-events/protocol'
import type { Actor } from '../audit/actor.ts'

/** What a key may do for one tenant. */
export interface Grant {
  readonly tenantId: string
  readonly scopes: readonly GrantScope[]
  /** Which contact data can be read with `contact:read`; left out: all of it. It is in the form given when the key was made. */
  readonly contact?: ContactLimits
  /**
   * Only properties of these branches, by the `branch_id` of their payloads, compared byte for byte, in the form of `grantedBranches`.
   * Left out: all.
   */
  readonly branches?: readonly string[]
}

/** The rate of a key's requests, over all nodes together (D10). Both are whole numbers from 1 on. */
export interface KeyRate {
  readonly perSecond: number
  readonly burst: number
}

/** From the columns of a store, which has both or neither. */
export function keyRateOf(perSecond: number | null, burst: number | null): KeyRate | undefined {
  return perSecond === null || burst === null ? undefined : { perSecond, burst }
}

/**
 * How a key reads, if not in the usual way (D12). It is set when the key is made and never changes: the bytes that a key has read stay
 * the same (P9).
 */
export interface KeyReading {
  /** Whose numbers the event types have in everything it reads; `undefined`: the store's. */
  readonly eventTypes: NumberingName | undefined
  /** Its lists show current events only, unless a request says otherwise. */
  readonly current: boolean
  /** The `transactionId` of each event is the reference of its subject (D15). */
  readonly references?: boolean
}

/** From the columns of a store. */
export function keyReadingOf(
  eventTypes: string | null,
  current: boolean,
  references: boolean,
): Pick<KeyRecord, 'reading'> {
  if (eventTypes === null && !current && !references) return {}
  if (eventTypes !== null && !isNumberingName(eventTypes))
    throw new Error('a key has event types that this program does not know')
  const reading = { eventTypes: eventTypes ?? undefined, current }
  return { reading: references ? { ...reading, references } : reading }
}

/** A key as stored: never its text (D11). */
export interface KeyRecord {
  readonly keyId: string
  /** HMAC-SHA-256 of the secret with the pepper. 32 bytes. */
  readonly secretHash: Uint8Array
  readonly pepperId: string
  readonly label: string
  /** Operator keys belong to no tenant and read no feed. */
  readonly operator: boolean
  readonly grants: readonly Grant[]
  readonly createdMs: number
  readonly expiresMs: number | undefined
  readonly revokedMs: number | undefined
  /** Sampled: at most a minute old (D11). */
  readonly lastUsedMs: number | undefined
  /** `undefined`: the rate that the service gives every key. */
  readonly rate: KeyRate | undefined
  /** The scopes of an operator key; left out: none. A key of a tenant has none. */
  readonly adminScopes?: readonly AdminScope[]
  /** Networks from which it may be used, such as `192.0.2.0/24`. Left out: any. */
  readonly networks?: readonly string[]
  /** The id of the key that it replaced in a rotation. */
  readonly replaces?: string
  /** Left out: it reads in the usual way. */
  readonly reading?: KeyReading
}

/**
 * A grant's scopes in the form that stores and people see: `contact:read` with limits is the one word
 * `contact:read(roles=vendor;fields=kind)`.
 */
export function scopeWords({ scopes, contact }: Pick<Grant, 'scopes' | 'contact'>): readonly string[] {
  if (contact === undefined) return scopes
  const { roles, fields } = contact
  const limits = [
    ...(roles === undefined ? [] : [`roles=${roles.join(',')}`]),
    ...(fields === undefined ? [] : [`fields=${fields.join(',')}`]),
  ]
  return scopes.map((scope) => (scope === 'contact:read' ? `${scope}(${limits.join(';')})` : scope))
}

/** From a column: the scopes that this program knows, in their stored order. */
export function grantOfScopes(tenantId: string, text: string): Grant {
  const words = text.split(' ')
  const limits = words.map((word) => limitedScope.exec(word)?.groups).find((groups) => groups !== undefined)
  const scopes = words
    .map((word) => (limitedScope.test(word) ? 'contact:read' : word))
    .filter((word) => isOneOf(word, grantScopes))
  return { tenantId, scopes, ...(limits && { contact: limitsOf(limits) }) }
}

const limitedScope = /^contact:read\((?:roles=(?<roles>[a-z_,]*))?;?(?:fields=(?<fields>[a-z_,]*))?\)$/

/** What this program does not know is not granted. */
function limitsOf({ roles, fields }: Readonly<Record<string, string | undefined>>): ContactLimits {
  return {
    ...(roles !== undefined && { roles: contactRoleNames.filter((role) => roles.split(',').includes(role)) }),
    ...(fields !== undefined && {
      fields: contactFields.filter((field) => fields.split(',').includes(field)),
    }),
  }
}

/** From the columns of a store: members that most keys do not have. */
export function keyTermsOf(
  scopes: string | null,
  networks: string | null,
  replaces: string | null,
): Pick<KeyRecord, 'adminScopes' | 'networks' | 'replaces'> {
  return {
    ...(scopes === null
      ? {}
      : { adminScopes: scopes.split(' ').filter((word) => isOneOf(word, adminScopes)) }),
    ...(networks === null ? {} : { networks: networks.split(' ') }),
    ...(replaces === null ? {} : { replaces }),
  }
}

/** A list as a store keeps it; `null`: there is none. */
export function wordsOf(list: readonly string[] | undefined): string | null {
  return list === undefined || list.length === 0 ? null : list.join(' ')
}

function isOneOf<Word extends string>(text: string, words: readonly Word[]): text is Word {
  return words.some((word) => word === text)
}

/** A key, with everything that decides about it at the moment of use. */
export interface FoundKey {
  readonly record: KeyRecord
  /** Tenants of the grants that are suspended, or being deleted. */
  readonly suspendedTenantIds: readonly string[]
  /** Tenants of the grants that are leaving: nothing is published for them, and reading ends at this time. Milliseconds since 1970. */
  readonly leaving: readonly { readonly tenantId: string; readonly readingEndsMs: number }[]
  /** Tenants of the grants whose receipts say nothing of duties by law. Left out: none. */
  readonly withoutDuties?: readonly string[]
  /**
   * Tenants whose properties the key reads by branch, if the views of these branches are not ready: their properties cannot be read yet.
   * Left out: none.
   */
  readonly viewsBeingMade?: readonly string[]
  /** The pepper with which the key should be hashed by now (`NodeStore.pepperId`). */
  readonly currentPepperId: string | undefined
}

interface KeyCursor {
  readonly place: number
  readonly record: KeyRecord
}

export interface KeysQuery {
  /** Keys after this place; 0 for the first. */
  readonly after: number
  readonly limit: number
  /** Only keys with a grant for this tenant. */
  readonly tenantId?: string | undefined
}

/** Members that are left out stay as they are; `null` removes the value: no end, the rate of all keys, any network. */
export interface KeyChange {
  readonly label?: string | undefined
  readonly expiresMs?: number | null | undefined
  readonly rate?: KeyRate | null | undefined
  readonly networks?: readonly string[] | null | undefined
}

export type ChangeKeyOutcome =
  | { readonly kind: 'changed'; readonly record: KeyRecord }
  /** `ended`: the key was revoked, and never comes back. */
  | { readonly kind: 'unknownKey' | 'ended' }

/** The new parts of a key that replaces another; everything else comes from the old key. */
export interface FreshKey extends Pick<KeyRecord, 'keyId' | 'secretHash' | 'pepperId' | 'createdMs'> {
  /** When the old key ends, unless it ends earlier by itself. */
  readonly oldEndsMs: number
}

export type RotateKeyOutcome =
  /** `old`: the old key, with its end. */
  | { readonly kind: 'rotated'; readonly record: KeyRecord; readonly old: KeyRecord }
  /** `ended`: the old key was revoked or has expired. `exists`: the new id is taken. */
  | { readonly kind: 'unknownKey' | 'ended' | 'exists' }

export interface KeyStore {
  /** Stores a new key. `unknownTenant`: a grant names a tenant that does not exist. */
  insertKey(record: KeyRecord, actor: Actor): Promise<'created' | 'exists' | 'unknownTenant'>
  /** The key has these scopes for the tenant from now on, in place of its earlier ones for the tenant. */
  grant(keyId: string, grant: Grant, actor: Actor): Promise<'done' | 'unknownKey' | 'unknownTenant'>
  findKey(keyId: string): Promise<FoundKey | undefined>
  /**
   * A text that changes whenever `findKey` may answer differently for any key, last uses apart. Read it before a key, so that the key is
   * of this version or a later one. It is one row, whatever the number of keys.
   */
  keysVersion(): Promise<string>
  /** In order of creation. */
  keys(): Promise<readonly KeyRecord[]>
  /** The first revocation stays; a key never comes back. */
  revokeKey(keyId: string, revokedMs: number, actor: Actor): Promise<'done' | 'unknownKey'>
  /** The ids of all keys, in no order. This is cheaper than the keys: half a megabyte of ids is read in some milliseconds. */
  keyIds(): Promise<readonly string[]>
  /** The peppers of the keys that are not revoked, each once. */
  pepperIdsInUse(): Promise<readonly string[]>
  /** Replaces the hash of the same secret. `unchanged`: the key is not hashed with `fromPepperId` (any more). */
  rehashKey(
    keyId: string,
    fromPepperId: string,
    hashed: { readonly secretHash: Uint8Array; readonly pepperId: string },
    actor: Actor,
  ): Promise<'done' | 'unchanged'>
  /** Records last uses in bulk; later times win, unknown ids are ignored. */
  recordKeyUses(uses: readonly { readonly keyId: string; readonly usedMs: number }[]): Promise<void>
  /** Keys in order of creation, including operator keys unless a tenant is named. One run of an index. */
  keysAfter(query: KeysQuery): Promise<readonly KeyCursor[]>
  /** Makes the whole change in one commit with its rows in the audit, or none of it. */
  changeKey(keyId: string, change: KeyChange, actor: Actor): Promise<ChangeKeyOutcome>
  /**
   * Makes a key with the grants, scopes, label, rate, networks and length of life of another one, and ends the other one, in one commit.
   * Even a grant that is given meanwhile is not lost.
   */
  rotateKey(keyId: string, fresh: FreshKey, actor: Actor): Promise<RotateKeyOutcome>
}

export function changedKey(before: KeyRecord, change: KeyChange): KeyRecord {
  const { networks: held, ...rest } = before
  const networks = change.networks === undefined ? held : (change.networks ?? undefined)
  return {
    ...rest,
    label: change.label ?? before.label,
    expiresMs: change.expiresMs === undefined ? before.expiresMs : (change.expiresMs ?? undefined),
    rate: change.rate === undefined ? before.rate : (change.rate ?? undefined),
    ...(networks === undefined || networks.length === 0 ? {} : { networks }),
  }
}

/** The old key with its end, and the key that replaces it; `ended`: the old key no longer works. */
export function rotatedKeys(
  before: KeyRecord,
  { oldEndsMs, ...fresh }: FreshKey,
): { readonly old: KeyRecord; readonly record: KeyRecord } | 'ended' {
  const { createdMs, expiresMs, revokedMs } = before
  if (revokedMs !== undefined || (expiresMs !== undefined && expiresMs <= fresh.createdMs)) return 'ended'
  const record: KeyRecord = {
    ...before,
    ...fresh,
    expiresMs: expiresMs === undefined ? undefined : fresh.createdMs + (expiresMs - createdMs),
    lastUsedMs: undefined,
    replaces: before.keyId,
  }
  return { old: { ...before, expiresMs: Math.min(oldEndsMs, expiresMs ?? oldEndsMs) }, record }
}
