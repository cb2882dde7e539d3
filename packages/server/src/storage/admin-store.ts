/** The port's part for administration (D11): tenants and keys page by page, and changing several things of one in one commit. */
import type { Actor } from '../audit/audit.ts'
import type { KeyRate, KeyRecord, Tenant } from './key-store.ts'

/** A row of a list, and the place after which to continue. Places rise in order of creation and are never reused. */
export interface TenantPlace {
  readonly place: number
  readonly tenant: Tenant
}

export interface KeyPlace {
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

/** Members that are left out stay as they are; `null` removes the value. */
export interface TenantChange {
  readonly name?: string | undefined
  readonly reference?: string | null | undefined
  readonly suspended?: boolean | undefined
}

/** Members that are left out stay as they are; `null` removes the value: no end, the rate of all keys, any network. */
export interface KeyChange {
  readonly label?: string | undefined
  readonly expiresMs?: number | null | undefined
  readonly rate?: KeyRate | null | undefined
  readonly networks?: readonly string[] | null | undefined
}

export type ChangeTenantOutcome =
  | { readonly kind: 'changed'; readonly tenant: Tenant }
  | { readonly kind: 'unknownTenant' | 'nameTaken' | 'referenceTaken' }

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

/** A tenant with a reference, and the keys to make with it. */
export interface ImportedTenant {
  readonly tenant: Tenant & { readonly reference: string }
  readonly keys: readonly KeyRecord[]
}

export type ImportTenantOutcome =
  /** With all its keys. */
  | { readonly kind: 'created' }
  /** A tenant already has the reference; it stays as it is, and no key was made. */
  | { readonly kind: 'known'; readonly tenant: Tenant }
  | { readonly kind: 'nameTaken' }

/** `deleting`: the tenant is being deleted, so nothing of it may be read any more. */
export type FoundTenant = Tenant & { readonly deleting?: true }

export interface AdminStore {
  findTenant(tenantId: string): Promise<FoundTenant | undefined>
  /** Tenants after this place, in order of creation; 0 for the first. One run of an index. */
  tenantsAfter(place: number, limit: number): Promise<readonly TenantPlace[]>
  /** Makes the whole change in one commit with its rows in the audit, or none of it. */
  changeTenant(tenantId: string, change: TenantChange, actor: Actor): Promise<ChangeTenantOutcome>
  /**
   * Makes those tenants whose references are new, with their keys, in one commit; returns one outcome each, in their order. The ids of
   * tenants and keys are new ones. If a reference or name occurs twice among them, the first one gets it. Give it some hundreds at most,
   * because publishers wait meanwhile.
   */
  importTenants(tenants: readonly ImportedTenant[], actor: Actor): Promise<readonly ImportTenantOutcome[]>
  /** Keys in order of creation, including operator keys unless a tenant is named. One run of an index. */
  keysAfter(query: KeysQuery): Promise<readonly KeyPlace[]>
  /** Makes the whole change in one commit with its rows in the audit, or none of it. */
  changeKey(keyId: string, change: KeyChange, actor: Actor): Promise<ChangeKeyOutcome>
  /**
   * Makes a key with the grants, scopes, label, rate, networks and length of life of another one, and ends the other one, in one commit.
   * Even a grant that is given meanwhile is not lost.
   */
  rotateKey(keyId: string, fresh: FreshKey, actor: Actor): Promise<RotateKeyOutcome>
}
