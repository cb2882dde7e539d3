/** The rows of keys and their grants. */
import { hexOf, rowsFrom, statement } from '../sql/database.ts'
import type { ColumnType, Dialect, Transaction } from '../sql/database.ts'
import { grantColumns, grantOf } from './granted-branches.ts'
import { keyRateOf, keyReadingOf, keyTermsOf, wordsOf } from './key.ts'
import type { KeyRecord } from './key.ts'

/** The columns that are given with a new key. */
const columns = {
  key_id: 'text',
  secret_hash: 'bytes',
  pepper_id: 'text',
  label: 'text',
  operator: 'boolean',
  created_ms: 'bigint',
  expires_ms: 'bigint',
  revoked_ms: 'bigint',
  last_used_ms: 'bigint',
  rate_per_second: 'integer',
  rate_burst: 'integer',
  admin_scopes: 'text',
  networks: 'text',
  replaces: 'text',
  event_types: 'text',
  current_only: 'boolean',
  reference_ids: 'boolean',
} as const satisfies Readonly<Record<string, ColumnType>>
const columnNames = Object.keys(columns).join(', ')

/** A key with its grants in one row, so that they come from one state. The databases have other names for the functions of JSON. */
export const selectKeys = (dialect: Dialect) => {
  const [list, item] =
    dialect === 'sqlite' ? ['json_group_array', 'json_array'] : ['json_agg', 'json_build_array']
  const isRefused = `t.suspended OR EXISTS (SELECT 1 FROM tenant_deletion d WHERE d.tenant = t.tenant AND d.state <> 'deleted')`
  const grant = `${item}(t.tenant, g.scopes, g.branches, ${isRefused}, l.reading_ends_ms, t.without_duties)`
  return `SELECT key_no, ${columnNames}, (
      SELECT CAST(coalesce(${list}(${grant} ORDER BY g.grant_no), '[]') AS text)
      FROM key_grant g JOIN tenant t ON t.tenant = g.tenant LEFT JOIN leaving_tenant l ON l.tenant = g.tenant
      WHERE g.key_no = key.key_no
    ) AS grants`
}
/** Nothing, if the id is taken. SQLite needs the WHERE, or takes ON CONFLICT for a part of a join. */
const insert = statement<{ readonly key_id: string }>(
  'keys-insert',
  (
    dialect,
  ) => `INSERT INTO key (${columnNames}) SELECT ${columnNames} FROM ${rowsFrom('$1', columns)(dialect)}
    WHERE true ON CONFLICT (key_id) DO NOTHING RETURNING key_id`,
)
const grantTypes = {
  key_id: 'text',
  grant_no: 'integer',
  tenant: 'uuid',
  scopes: 'text',
  branches: 'text',
} as const satisfies Readonly<Record<string, ColumnType>>
const insertGrants = statement(
  'grants-insert',
  (dialect) => `INSERT INTO key_grant (key_no, grant_no, tenant, scopes, branches)
    SELECT key_no, grant_no, tenant, scopes, branches FROM ${rowsFrom('$1', grantTypes)(dialect)} JOIN key USING (key_id)`,
)
/** Keys with their grants; the tenants of the grants must exist. Returns how many it made: if that is not all, an id was taken. */
export async function insertKeys(tx: Transaction, records: readonly KeyRecord[]): Promise<number> {
  if (records.length === 0) return 0
  const inserted = await tx.rows(insert(JSON.stringify(records.map(insertedRow))))
  if (inserted.length < records.length) return inserted.length
  const grants = records.flatMap(({ keyId, grants: own }) =>
    own.map((grant, grantNo) => {
      return { key_id: keyId, grant_no: grantNo, tenant: grant.tenantId, ...grantColumns(grant) }
    }),
  )
  if (grants.length > 0) await tx.rows(insertGrants(JSON.stringify(grants)))
  return inserted.length
}

function insertedRow(record: KeyRecord): Readonly<Record<keyof typeof columns, unknown>> {
  return {
    key_id: record.keyId,
    secret_hash: hexOf(record.secretHash),
    pepper_id: record.pepperId,
    label: record.label,
    operator: record.operator,
    created_ms: record.createdMs,
    expires_ms: record.expiresMs,
    revoked_ms: record.revokedMs,
    last_used_ms: record.lastUsedMs,
    rate_per_second: record.rate?.perSecond,
    rate_burst: record.rate?.burst,
    admin_scopes: wordsOf(record.adminScopes),
    networks: wordsOf(record.networks),
    replaces: record.replaces,
    event_types: record.reading?.eventTypes,
    current_only: record.reading?.current === true,
    reference_ids: record.reading?.references === true,
  }
}

export interface KeyNumber {
  readonly key_no: number
}

export interface KeyRow extends KeyNumber {
  readonly key_id: string
  readonly secret_hash: Uint8Array
  readonly pepper_id: string
  readonly label: string
  readonly operator: boolean | number
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
  readonly current_only: boolean | number
  readonly reference_ids: boolean | number
  /** JSON. */
  readonly grants: string
}

type GrantRow = readonly [
  tenantId: string,
  scopes: string,
  branches: string | null,
  /** The tenant is suspended, or is being deleted. */
  isRefused: boolean | number,
  /** `null`: the tenant is not leaving. */
  readingEndsMs: number | null,
  withoutDuties: boolean | number,
]

export function grantRows({ grants }: KeyRow): readonly GrantRow[] {
  return JSON.parse(grants)
}

export function recordOf(row: KeyRow, grants = grantRows(row)): KeyRecord {
  return {
    keyId: row.key_id,
    secretHash: row.secret_hash,
    pepperId: row.pepper_id,
    label: row.label,
    operator: Boolean(row.operator),
    grants: grants.map(([tenantId, scopes, branches]) => grantOf(tenantId, { scopes, branches })),
    createdMs: row.created_ms,
    expiresMs: row.expires_ms ?? undefined,
    revokedMs: row.revoked_ms ?? undefined,
    lastUsedMs: row.last_used_ms ?? undefined,
    rate: keyRateOf(row.rate_per_second, row.rate_burst),
    ...keyTermsOf(row.admin_scopes, row.networks, row.replaces),
    ...keyReadingOf(row.event_types, Boolean(row.current_only), Boolean(row.reference_ids)),
  }
}
