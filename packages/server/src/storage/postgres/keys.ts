/** Reads keys and tenants. `key-writes.ts` writes them. */
import { grantOf } from '../granted-branches.ts'
import { keyRateOf, keyReadingOf, keyTermsOf } from '../key-store.ts'
import type { FoundKey, KeyRecord, Tenant } from '../storage.ts'
import { readViewsBeingMade } from './branch-views.ts'
import type { Database, Statement } from './connection.ts'

export const tenantColumns = 'tenant, name, created_ms, suspended, reference'
const selectTenants: Statement = {
  name: 'tenants',
  text: `SELECT ${tenantColumns} FROM tenant ORDER BY tenant_no`,
}

/** A key with its grants in one row, so that they come from one state. */
export const keySelect = `SELECT key_no, key_id, secret_hash, pepper_id, label, operator, created_ms, expires_ms, revoked_ms, last_used_ms,
  rate_per_second, rate_burst, admin_scopes, networks, replaces, event_types, current_only, reference_ids,
  ARRAY(SELECT g.tenant::text FROM key_grant g WHERE g.key_no = key.key_no ORDER BY grant_no) AS tenants,
  ARRAY(SELECT g.scopes FROM key_grant g WHERE g.key_no = key.key_no ORDER BY grant_no) AS scopes,
  ARRAY(SELECT g.branches FROM key_grant g WHERE g.key_no = key.key_no ORDER BY grant_no) AS branches,
  ARRAY(SELECT t.tenant::text FROM key_grant g JOIN tenant t USING (tenant)
    WHERE g.key_no = key.key_no
      AND (t.suspended OR t.tenant IN (SELECT d.tenant FROM tenant_deletion d WHERE d.state <> 'deleted'))
    ORDER BY grant_no) AS suspended,
  ARRAY(SELECT l.tenant || ' ' || l.reading_ends_ms FROM key_grant g JOIN leaving_tenant l USING (tenant)
    WHERE g.key_no = key.key_no ORDER BY grant_no) AS leaving,
  (SELECT pepper_id FROM store) AS current_pepper_id
  FROM key`
export const selectKey: Statement = { name: 'key', text: `${keySelect} WHERE key_id = $1` }
const selectPeppers: Statement = {
  name: 'key-peppers',
  text: 'SELECT DISTINCT pepper_id FROM key WHERE revoked_ms IS NULL',
}
const selectKeyIds: Statement = { name: 'key-ids', text: 'SELECT key_id FROM key' }
const selectVersion: Statement = { name: 'keys-version', text: 'SELECT version FROM keys_version' }
const selectKeys: Statement = { name: 'keys', text: `${keySelect} ORDER BY key_no` }

export interface TenantRow {
  readonly [column: string]: unknown
  readonly tenant: string
  readonly name: string
  readonly created_ms: string
  readonly suspended: boolean
  readonly reference: string | null
}

export interface KeyRow {
  readonly [column: string]: unknown
  readonly key_no: string
  readonly key_id: string
  readonly secret_hash: Buffer
  readonly pepper_id: string
  readonly label: string
  readonly operator: boolean
  readonly created_ms: string
  readonly expires_ms: string | null
  readonly revoked_ms: string | null
  readonly last_used_ms: string | null
  readonly rate_per_second: number | null
  readonly rate_burst: number | null
  readonly admin_scopes: string | null
  readonly networks: string | null
  readonly replaces: string | null
  readonly event_types: string | null
  readonly current_only: boolean
  readonly reference_ids: boolean
  readonly tenants: readonly string[]
  readonly scopes: readonly string[]
  readonly branches: readonly (string | null)[]
  /** Those that are being deleted, too. */
  readonly suspended: readonly string[]
  /** Each with its end of reading. */
  readonly leaving: readonly string[]
  readonly current_pepper_id: string | null
}

export async function readTenants(database: Database): Promise<readonly Tenant[]> {
  const rows = await database.read<TenantRow>(selectTenants, [])
  return rows.map(tenantOf)
}

export function tenantOf({ tenant, name, created_ms, suspended, reference }: TenantRow): Tenant {
  const known = { tenantId: tenant, name, createdMs: Number(created_ms), suspended }
  return reference === null ? known : { ...known, reference }
}

export async function findKey(database: Database, keyId: string): Promise<FoundKey | undefined> {
  const [row] = await database.read<KeyRow>(selectKey, [keyId])
  if (row === undefined) return undefined
  const record = recordOf(row)
  return {
    record,
    suspendedTenantIds: row.suspended,
    leaving: row.leaving.map((text) => {
      const [tenantId = '', readingEndsMs] = text.split(' ')
      return { tenantId, readingEndsMs: Number(readingEndsMs) }
    }),
    ...(await readViewsBeingMade(database, record.grants)),
    currentPepperId: row.current_pepper_id ?? undefined,
  }
}

export async function readKeysVersion(database: Database): Promise<string> {
  const [row] = await database.read<{ version: string }>(selectVersion, [])
  if (row === undefined) throw new Error('the table keys_version has lost its row')
  return row.version
}

export async function readKeyIds(database: Database): Promise<readonly string[]> {
  const rows = await database.read<{ key_id: string }>(selectKeyIds, [])
  return rows.map(({ key_id }) => key_id)
}

export async function readPepperIds(database: Database): Promise<readonly string[]> {
  const rows = await database.read<{ pepper_id: string }>(selectPeppers, [])
  return rows.map(({ pepper_id }) => pepper_id)
}

export async function readKeys(database: Database): Promise<readonly KeyRecord[]> {
  return (await database.read<KeyRow>(selectKeys, [])).map(recordOf)
}

export function recordOf(row: KeyRow): KeyRecord {
  return {
    keyId: row.key_id,
    secretHash: row.secret_hash,
    pepperId: row.pepper_id,
    label: row.label,
    operator: row.operator,
    grants: row.tenants.map((tenantId, index) => {
      const [scopes = '', branches = null] = [row.scopes[index], row.branches[index]]
      return grantOf(tenantId, { scopes, branches })
    }),
    createdMs: Number(row.created_ms),
    expiresMs: numberOf(row.expires_ms),
    revokedMs: numberOf(row.revoked_ms),
    lastUsedMs: numberOf(row.last_used_ms),
    rate: keyRateOf(row.rate_per_second, row.rate_burst),
    ...keyTermsOf(row.admin_scopes, row.networks, row.replaces),
    ...keyReadingOf(row.event_types, row.current_only, row.reference_ids),
  }
}

function numberOf(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}
