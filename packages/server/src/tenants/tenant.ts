/** Tenants, and what may become of one (D11). */
import type { Actor } from '../audit/actor.ts'
import type { KeyRecord } from '../keys/key.ts'

export interface Tenant {
  /** Lower-case UUID. */
  readonly tenantId: string
  readonly name: string
  readonly createdMs: number
  readonly suspended: boolean
  /** The operator's own name for the tenant, such as a number in its CRM. It is unique; left out: there is none. */
  readonly reference?: string
  /** Its receipts say nothing of duties by law (PROTOCOL §4.11). Left out: they do. */
  readonly withoutDuties?: true
}

/** How a new tenant comes about. */
export interface NewTenantOptions {
  /**
   * `refused` by default: people identify tenants by their names. `allowed` for a tenant from another store: each store has
   * its own names, and two may have the same.
   */
  readonly sameName?: 'refused' | 'allowed'
}

export type NewTenantOutcome = 'created' | 'exists' | 'nameTaken' | 'referenceTaken'

/** A row of a list, and the place after which to continue. Places rise in order of creation and are never reused. */
export interface TenantCursor {
  readonly place: number
  readonly tenant: Tenant
}

/** Members that are left out stay as they are; `null` removes the value. */
export interface TenantChange {
  readonly name?: string | undefined
  readonly reference?: string | null | undefined
  readonly suspended?: boolean | undefined
  /** Whether its receipts warn of duties by law. */
  readonly duties?: boolean | undefined
}

export type ChangeTenantOutcome =
  | { readonly kind: 'changed'; readonly tenant: Tenant }
  | { readonly kind: 'unknownTenant' | 'nameTaken' | 'referenceTaken' }

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
type FoundTenant = Tenant & { readonly deleting?: true }

export interface TenantStore {
  /**
   * Makes a tenant and its empty feeds. `exists`: the id is taken. `nameTaken`: another tenant has exactly this name; if several calls
   * ask for one name at the same time, on any nodes, one gets it. `referenceTaken`: another has its reference.
   */
  createTenant(tenant: Tenant, actor: Actor, options?: NewTenantOptions): Promise<NewTenantOutcome>
  /** In order of creation. */
  tenants(): Promise<readonly Tenant[]>
  findTenant(tenantId: string): Promise<FoundTenant | undefined>
  /** Tenants after this place, in order of creation; 0 for the first. One run of an index. */
  tenantsAfter(place: number, limit: number): Promise<readonly TenantCursor[]>
  /** Makes the whole change in one commit with its rows in the audit, or none of it. */
  changeTenant(tenantId: string, change: TenantChange, actor: Actor): Promise<ChangeTenantOutcome>
  /**
   * Makes those tenants whose references are new, with their keys, in one commit; returns one outcome each, in their order. The ids of
   * tenants and keys are new ones. If a reference or name occurs twice among them, the first one gets it. Give it some hundreds at most,
   * because publishers wait meanwhile.
   */
  importTenants(tenants: readonly ImportedTenant[], actor: Actor): Promise<readonly ImportTenantOutcome[]>
}

export function changedTenant(before: Tenant, change: TenantChange): Tenant {
  const { reference: held, withoutDuties, ...rest } = before
  const reference = change.reference === undefined ? held : (change.reference ?? undefined)
  return {
    ...rest,
    name: change.name ?? before.name,
    suspended: change.suspended ?? before.suspended,
    ...(reference === undefined ? {} : { reference }),
    ...(!(change.duties ?? withoutDuties !== true) && { withoutDuties: true }),
  }
}

/** Which of the new names and references are already taken. */
interface ExistingTenants {
  readonly byReference: ReadonlyMap<string, Tenant>
  readonly names: ReadonlySet<string>
}

/** Decides which tenants are made. Tenants of one commit also conflict with each other. */
export function decideImport(
  tenants: readonly ImportedTenant[],
  held: ExistingTenants,
): { readonly outcomes: readonly ImportTenantOutcome[]; readonly made: readonly ImportedTenant[] } {
  const byReference = new Map(held.byReference)
  const names = new Set(held.names)
  const made: ImportedTenant[] = []
  const outcomes = tenants.map((item): ImportTenantOutcome => {
    const { tenant } = item
    const known = byReference.get(tenant.reference)
    if (known !== undefined) return { kind: 'known', tenant: known }
    if (names.has(tenant.name)) return { kind: 'nameTaken' }
    byReference.set(tenant.reference, tenant)
    names.add(tenant.name)
    made.push(item)
    return { kind: 'created' }
  })
  return { outcomes, made }
}
