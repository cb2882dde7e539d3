/** Writing keys and tenants, each in one immediate transaction. */
import { feedNames, viewsOf } from '@property-events/protocol/plain'
import { newEpochId } from '../epoch-id.ts'
import type { Grant, KeyRecord, NewTenantOptions, NewTenantOutcome, Tenant } from '../storage.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

export interface KeyWrites {
  createTenant(tenant: Tenant, options?: NewTenantOptions): NewTenantOutcome
  setTenantSuspended(tenantId: string, suspended: boolean): 'done' | 'unknownTenant'
  insertKey(record: KeyRecord): 'created' | 'exists' | 'unknownTenant'
  grant(keyId: string, grant: Grant): 'done' | 'unknownKey' | 'unknownTenant'
  revokeKey(keyId: string, revokedMs: number): 'done' | 'unknownKey'
  setKeyExpiry(keyId: string, expiresMs: number | undefined): 'done' | 'unknownKey'
  rehashKey(
    keyId: string,
    fromPepperId: string,
    hashed: { readonly secretHash: Uint8Array; readonly pepperId: string },
  ): 'done' | 'unchanged'
  recordKeyUses(uses: readonly { readonly keyId: string; readonly usedMs: number }[]): void
}

export function keyWrites(db: Connection): KeyWrites {
  const hasTenant = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE tenant = ?').pluck()
  const hasName = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE name = ?').pluck()
  const hasKey = db.prepare<[string], number>('SELECT 1 FROM key WHERE key_id = ?').pluck()
  const suspend = db.prepare('UPDATE tenant SET suspended = ? WHERE tenant = ?')
  const revoke = db.prepare('UPDATE key SET revoked_ms = coalesce(revoked_ms, ?) WHERE key_id = ?')
  const expire = db.prepare('UPDATE key SET expires_ms = ? WHERE key_id = ?')
  const rehash = db.prepare(
    'UPDATE key SET secret_hash = ?, pepper_id = ? WHERE key_id = ? AND pepper_id = ?',
  )
  const use = db.prepare('UPDATE key SET last_used_ms = max(coalesce(last_used_ms, 0), ?) WHERE key_id = ?')

  const createTenant = db.transaction((tenant: Tenant, sameName: NewTenantOptions['sameName']) => {
    if (hasTenant.get(tenant.tenantId) !== undefined) return 'exists'
    if (sameName !== 'allowed' && hasName.get(tenant.name) !== undefined) return 'nameTaken'
    insertTenant(db, tenant)
    return 'created'
  })
  const insert = db.transaction((record: KeyRecord) => {
    if (hasKey.get(record.keyId) !== undefined) return 'exists'
    if (record.grants.some((grant) => hasTenant.get(grant.tenantId) === undefined)) return 'unknownTenant'
    insertKey(db, record)
    return 'created'
  })
  const keyNo = db.prepare<[string], number>('SELECT key_no FROM key WHERE key_id = ?').pluck()
  const ungrant = db.prepare('DELETE FROM key_grant WHERE key_no = ? AND tenant = ?')
  const addGrant = db.prepare(
    `INSERT INTO key_grant (key_no, grant_no, tenant, scopes)
      SELECT ?, coalesce(max(grant_no) + 1, 0), ?, ? FROM key_grant WHERE key_no = ?`,
  )
  const grant = db.transaction((keyId: string, { tenantId, scopes }: Grant) => {
    const no = keyNo.get(keyId)
    if (no === undefined) return 'unknownKey'
    if (hasTenant.get(tenantId) === undefined) return 'unknownTenant'
    ungrant.run(no, tenantId)
    addGrant.run(no, tenantId, scopes.join(' '), no)
    return 'done'
  })
  const recordUses = db.transaction((uses: Parameters<KeyWrites['recordKeyUses']>[0]) => {
    for (const { keyId, usedMs } of uses) use.run(usedMs, keyId)
  })

  return {
    createTenant: (tenant, options) => createTenant.immediate(tenant, options?.sameName),
    setTenantSuspended: (tenantId, suspended) =>
      suspend.run(suspended ? 1 : 0, tenantId).changes === 0 ? 'unknownTenant' : 'done',
    insertKey: (record) => insert.immediate(record),
    grant: (keyId, given) => grant.immediate(keyId, given),
    revokeKey: (keyId, revokedMs) => (revoke.run(revokedMs, keyId).changes === 0 ? 'unknownKey' : 'done'),
    setKeyExpiry: (keyId, expiresMs) =>
      expire.run(expiresMs ?? null, keyId).changes === 0 ? 'unknownKey' : 'done',
    rehashKey(keyId, fromPepperId, { secretHash, pepperId }) {
      const { changes } = rehash.run(secretHash, pepperId, keyId, fromPepperId)
      return changes === 0 ? 'unchanged' : 'done'
    },
    recordKeyUses: (uses) => recordUses.immediate(uses),
  }
}

function insertTenant(db: Connection, { tenantId, name, createdMs, suspended }: Tenant): void {
  db.prepare('INSERT INTO tenant (tenant, name, created_ms, suspended) VALUES (?, ?, ?, ?)').run(
    tenantId,
    name,
    createdMs,
    suspended ? 1 : 0,
  )
  const offset = Number(metaOf(db).get('first_offset'))
  const insertFeed = db.prepare(
    'INSERT INTO feed (tenant, feed, epoch, offset, revision, last_position) VALUES (?, ?, ?, ?, 0, 0)',
  )
  const insertView = db.prepare('INSERT INTO view (feed_no, view, filter, last_ordinal) VALUES (?, ?, ?, 0)')
  for (const feed of feedNames) {
    const feedNo = insertFeed.run(tenantId, feed, newEpochId(), offset).lastInsertRowid
    for (const view of viewsOf(feed)) insertView.run(feedNo, view, `category = '${view}'`)
  }
}

function insertKey(db: Connection, record: KeyRecord): void {
  const keyNo = db
    .prepare(
      `INSERT INTO key (key_id, secret_hash, pepper_id, label, operator, created_ms, expires_ms, revoked_ms, last_used_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      record.keyId,
      record.secretHash,
      record.pepperId,
      record.label,
      record.operator ? 1 : 0,
      record.createdMs,
      record.expiresMs ?? null,
      record.revokedMs ?? null,
      record.lastUsedMs ?? null,
    ).lastInsertRowid
  const insertGrant = db.prepare(
    'INSERT INTO key_grant (key_no, grant_no, tenant, scopes) VALUES (?, ?, ?, ?)',
  )
  for (const [grantNo, { tenantId, scopes }] of record.grants.entries()) {
    insertGrant.run(keyNo, grantNo, tenantId, scopes.join(' '))
  }
}
