/** Reading keys and tenants. Writing them is `key-writes.ts`, on the connection that writes. */
import { scopes } from '@property-events/protocol'
import type { Scope } from '@property-events/protocol'
import { keyRateOf } from '../key-store.ts'
import type { FoundKey, Grant, KeyRecord, Tenant } from '../storage.ts'
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

interface TenantRow {
  readonly tenant: string
  readonly name: string
  readonly created_ms: number
  readonly suspended: number
}

interface KeyRow {
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
}

interface GrantRow {
  readonly tenant: string
  readonly scopes: string
  readonly suspended: number
}

const keyColumns = `key_no, key_id, secret_hash, pepper_id, label, operator,
  created_ms, expires_ms, revoked_ms, last_used_ms, rate_per_second, rate_burst`

export function keyReads(db: Connection): KeyReads {
  const selectTenants = db.prepare<[], TenantRow>(
    'SELECT tenant, name, created_ms, suspended FROM tenant ORDER BY tenant_no',
  )
  const selectKey = db.prepare<[string], KeyRow>(`SELECT ${keyColumns} FROM key WHERE key_id = ?`)
  const selectKeys = db.prepare<[], KeyRow>(`SELECT ${keyColumns} FROM key ORDER BY key_no`)
  const selectGrants = db.prepare<[number], GrantRow>(
    `SELECT tenant, scopes, suspended FROM key_grant JOIN tenant USING (tenant)
      WHERE key_no = ? ORDER BY grant_no`,
  )

  const selectPeppers = db
    .prepare<[], string>('SELECT DISTINCT pepper_id FROM key WHERE revoked_ms IS NULL')
    .pluck()
  const selectKeyIds = db.prepare<[], string>('SELECT key_id FROM key').pluck()
  const meta = metaOf(db)

  return {
    keyIds: () => selectKeyIds.all(),
    pepperIdsInUse: () => selectPeppers.all(),
    tenants() {
      return selectTenants.all().map(({ tenant, name, created_ms, suspended }) => {
        return { tenantId: tenant, name, createdMs: created_ms, suspended: suspended === 1 }
      })
    },
    // One transaction each, so that a key and its grants are of one state.
    findKey: db.transaction((keyId: string): FoundKey | undefined => {
      const row = selectKey.get(keyId)
      if (row === undefined) return undefined
      const grants = selectGrants.all(row.key_no)
      const suspended = grants.filter((grant) => grant.suspended === 1)
      return {
        record: recordOf(row, grants),
        suspendedTenantIds: suspended.map((grant) => grant.tenant),
        currentPepperId: meta.find('pepper_id'),
      }
    }),
    keysVersion: () => meta.get('keys_version'),
    keys: db.transaction((): readonly KeyRecord[] =>
      selectKeys.all().map((row) => recordOf(row, selectGrants.all(row.key_no))),
    ),
  }
}

function recordOf(row: KeyRow, grants: readonly GrantRow[]): KeyRecord {
  return {
    keyId: row.key_id,
    secretHash: row.secret_hash,
    pepperId: row.pepper_id,
    label: row.label,
    operator: row.operator === 1,
    grants: grants.map(grantOf),
    createdMs: row.created_ms,
    expiresMs: row.expires_ms ?? undefined,
    revokedMs: row.revoked_ms ?? undefined,
    lastUsedMs: row.last_used_ms ?? undefined,
    rate: keyRateOf(row.rate_per_second, row.rate_burst),
  }
}

function grantOf(row: GrantRow): Grant {
  return { tenantId: row.tenant, scopes: row.scopes.split(' ').filter(isScope) }
}

function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text)
}
