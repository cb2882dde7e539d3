/** Reads keys and tenants. `key-writes.ts` writes them, on the connection that writes. */
import { grantOf } from '../granted-branches.ts'
import type { GrantColumns } from '../granted-branches.ts'
import { setsOfGrants, viewsBeingMade } from '../branch-view-store.ts'
import { keyRateOf, keyReadingOf, keyTermsOf } from '../key-store.ts'
import type { FoundKey, KeyRecord, Tenant } from '../storage.ts'
import { readySets } from './branch-views.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

export interface KeyReads {
  tenants(): readonly Tenant[]
  findKey(keyId: string): FoundKey | undefined
  keysVersion(): string
  keys(): readonly KeyRecord[]
  keyIds(): readonly string[]
  pepperIdsInUse(): readonly string[]
}

export interface TenantRow {
  readonly tenant: string
  readonly name: string
  readonly created_ms: number
  readonly suspended: number
  readonly reference: string | null
}

export interface KeyRow {
  readonly key_no: number
  readonly key_id: string
  readonly secret_hash: Buffer
  readonly pepper_id: string
  readonly label: string
  readonly operator: number
  readonly created_ms: number
  readonly expires_ms: number | null
  readonly revoked_ms: number | null
  readonly last_used_ms: number | null
  readonly rate_per_second: number | null
  readonly rate_burst: number | null
  readonly admin_scopes: string | null
  readonly networks: string | null
  readonly replaces: string | null
  readonly event_types: string | null
  readonly current_only: number
  readonly reference_ids: number
}

export interface GrantRow extends GrantColumns {
  readonly tenant: string
  /** 1: the tenant is suspended, or is being deleted. */
  readonly suspended: number
  /** `null`: the tenant is not leaving. */
  readonly reading_ends_ms: number | null
}

export const tenantColumns = 'tenant, name, created_ms, suspended, reference'
export const keyColumns = `key_no, key_id, secret_hash, pepper_id, label, operator, created_ms, expires_ms, revoked_ms,
  last_used_ms, rate_per_second, rate_burst, admin_scopes, networks, replaces, event_types, current_only,
  reference_ids`

export function keyReads(db: Connection): KeyReads {
  const selectTenants = db.prepare<[], TenantRow>(`SELECT ${tenantColumns} FROM tenant ORDER BY tenant_no`)
  const selectKey = db.prepare<[string], KeyRow>(`SELECT ${keyColumns} FROM key WHERE key_id = ?`)
  const selectKeys = db.prepare<[], KeyRow>(`SELECT ${keyColumns} FROM key ORDER BY key_no`)
  const selectGrants = grantReader(db)
  const readyOf = readySets(db)

  const selectPeppers = db
    .prepare<[], string>('SELECT DISTINCT pepper_id FROM key WHERE revoked_ms IS NULL')
    .pluck()
  const selectKeyIds = db.prepare<[], string>('SELECT key_id FROM key').pluck()
  const meta = metaOf(db)

  return {
    keyIds: () => selectKeyIds.all(),
    pepperIdsInUse: () => selectPeppers.all(),
    tenants() {
      return selectTenants.all().map(tenantOf)
    },
    // One transaction each, so that a key and its grants come from one state.
    findKey: db.transaction((keyId: string): FoundKey | undefined => {
      const row = selectKey.get(keyId)
      if (row === undefined) return undefined
      const grants = selectGrants(row.key_no)
      const suspended = grants.filter((grant) => grant.suspended === 1)
      const record = recordOf(row, grants)
      const wanted = setsOfGrants(record.grants)
      return {
        record,
        suspendedTenantIds: suspended.map((grant) => grant.tenant),
        leaving: grants.flatMap(({ tenant, reading_ends_ms: readingEndsMs }) =>
          readingEndsMs === null ? [] : [{ tenantId: tenant, readingEndsMs }],
        ),
        ...viewsBeingMade(wanted, readyOf(wanted)),
        currentPepperId: meta.find('pepper_id'),
      }
    }),
    keysVersion: () => meta.get('keys_version'),
    keys: db.transaction((): readonly KeyRecord[] =>
      selectKeys.all().map((row) => recordOf(row, selectGrants(row.key_no))),
    ),
  }
}

/** The grants of a key, in their order. */
export function grantReader(db: Connection): (keyNo: number) => readonly GrantRow[] {
  const select = db.prepare<[number], GrantRow>(
    `SELECT tenant, scopes, branches, reading_ends_ms,
      suspended = 1 OR tenant IN (SELECT tenant FROM tenant_deletion WHERE state <> 'deleted') AS suspended
      FROM key_grant JOIN tenant USING (tenant) LEFT JOIN leaving_tenant USING (tenant)
      WHERE key_no = ? ORDER BY grant_no`,
  )
  return (keyNo) => select.all(keyNo)
}

export function tenantOf({ tenant, name, created_ms, suspended, reference }: TenantRow): Tenant {
  const known = { tenantId: tenant, name, createdMs: created_ms, suspended: suspended === 1 }
  return reference === null ? known : { ...known, reference }
}

export function recordOf(row: KeyRow, grants: readonly GrantRow[]): KeyRecord {
  return {
    keyId: row.key_id,
    secretHash: row.secret_hash,
    pepperId: row.pepper_id,
    label: row.label,
    operator: row.operator === 1,
    grants: grants.map((row) => grantOf(row.tenant, row)),
    createdMs: row.created_ms,
    expiresMs: row.expires_ms ?? undefined,
    revokedMs: row.revoked_ms ?? undefined,
    lastUsedMs: row.last_used_ms ?? undefined,
    rate: keyRateOf(row.rate_per_second, row.rate_burst),
    ...keyTermsOf(row.admin_scopes, row.networks, row.replaces),
    ...keyReadingOf(row.event_types, row.current_only === 1, row.reference_ids === 1),
  }
}
