/** Writes keys and tenants, each in one immediate transaction. */
import {
  expirySet,
  keyCreated,
  keyGranted,
  keyRehashed,
  keyRevoked,
  rateSet,
  suspensionSet,
  tenantCreated,
} from '../../audit/changes.ts'
import { grantColumns } from '../granted-branches.ts'
import type { GrantColumns } from '../granted-branches.ts'
import type {
  Actor,
  Grant,
  KeyRate,
  KeyRecord,
  NewTenantOptions,
  NewTenantOutcome,
  Tenant,
} from '../storage.ts'
import type { NoteChanges } from '../../sql/sqlite.ts'
import type { Connection } from './connection.ts'
import { recordInserter } from './insert-records.ts'

export interface KeyWrites {
  createTenant(tenant: Tenant, actor: Actor, options?: NewTenantOptions): NewTenantOutcome
  setTenantSuspended(tenantId: string, suspended: boolean, actor: Actor): 'done' | 'unknownTenant'
  insertKey(record: KeyRecord, actor: Actor): 'created' | 'exists' | 'unknownTenant'
  grant(keyId: string, grant: Grant, actor: Actor): 'done' | 'unknownKey' | 'unknownTenant'
  revokeKey(keyId: string, revokedMs: number, actor: Actor): 'done' | 'unknownKey'
  setKeyExpiry(keyId: string, expiresMs: number | undefined, actor: Actor): 'done' | 'unknownKey'
  setKeyRate(keyId: string, rate: KeyRate | undefined, actor: Actor): 'done' | 'unknownKey'
  rehashKey(
    keyId: string,
    fromPepperId: string,
    hashed: { readonly secretHash: Uint8Array; readonly pepperId: string },
    actor: Actor,
  ): 'done' | 'unchanged'
  recordKeyUses(uses: readonly { readonly keyId: string; readonly usedMs: number }[]): void
}

export function keyWrites(db: Connection, note: NoteChanges): KeyWrites {
  const use = db.prepare('UPDATE key SET last_used_ms = max(coalesce(last_used_ms, 0), ?) WHERE key_id = ?')
  const recordUses = db.transaction((uses: Parameters<KeyWrites['recordKeyUses']>[0]) => {
    for (const { keyId, usedMs } of uses) use.run(usedMs, keyId)
  })
  return {
    ...tenantWrites(db, note),
    ...keyChanges(db, note),
    recordKeyUses: (uses) => recordUses.immediate(uses),
  }
}

function tenantWrites(
  db: Connection,
  note: NoteChanges,
): Pick<KeyWrites, 'createTenant' | 'setTenantSuspended'> {
  const hasTenant = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE tenant = ?').pluck()
  const hasName = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE name = ?').pluck()
  const hasReference = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE reference = ?').pluck()
  const insert = recordInserter(db)
  const setSuspended = db.prepare('UPDATE tenant SET suspended = ? WHERE tenant = ? AND suspended <> ?')
  const createTenant = db.transaction(
    (tenant: Tenant, actor: Actor, sameName: NewTenantOptions['sameName']) => {
      if (hasTenant.get(tenant.tenantId) !== undefined) return 'exists'
      if (sameName !== 'allowed' && hasName.get(tenant.name) !== undefined) return 'nameTaken'
      const { reference } = tenant
      if (reference !== undefined && hasReference.get(reference) !== undefined) return 'referenceTaken'
      insert.tenant(tenant)
      note(tenantCreated(tenant), actor)
      return 'created'
    },
  )
  const suspend = db.transaction((tenantId: string, suspended: boolean, actor: Actor) => {
    const value = suspended ? 1 : 0
    if (setSuspended.run(value, tenantId, value).changes > 0) note(suspensionSet(tenantId, suspended), actor)
    else if (hasTenant.get(tenantId) === undefined) return 'unknownTenant'
    return 'done'
  })
  return {
    createTenant: (tenant, actor, options) => createTenant.immediate(tenant, actor, options?.sameName),
    setTenantSuspended: (tenantId, suspended, actor) => suspend.immediate(tenantId, suspended, actor),
  }
}

type KeyChanges = Pick<
  KeyWrites,
  'insertKey' | 'grant' | 'revokeKey' | 'setKeyExpiry' | 'setKeyRate' | 'rehashKey'
>

function keyChanges(db: Connection, note: NoteChanges): KeyChanges {
  const revoke = db.prepare('UPDATE key SET revoked_ms = ? WHERE key_id = ? AND revoked_ms IS NULL')
  const expire = db.prepare('UPDATE key SET expires_ms = ? WHERE key_id = ? AND expires_ms IS NOT ?')
  const changeRate = db.prepare(
    `UPDATE key SET rate_per_second = @perSecond, rate_burst = @burst
      WHERE key_id = @keyId AND (rate_per_second, rate_burst) IS NOT (@perSecond, @burst)`,
  )
  const rehash = db.prepare(
    'UPDATE key SET secret_hash = ?, pepper_id = ? WHERE key_id = ? AND pepper_id = ?',
  )
  const hasKey = db.prepare<[string], number>('SELECT 1 FROM key WHERE key_id = ?').pluck()
  const tenantsOf = db
    .prepare<[string], string>(
      'SELECT tenant FROM key_grant JOIN key USING (key_no) WHERE key_id = ? ORDER BY grant_no',
    )
    .pluck()
  const known = (keyId: string) => (hasKey.get(keyId) === undefined ? 'unknownKey' : 'done')
  const revokeKey = db.transaction((keyId: string, revokedMs: number, actor: Actor) => {
    if (revoke.run(revokedMs, keyId).changes === 0) return known(keyId)
    note(keyRevoked(keyId, tenantsOf.all(keyId)), actor)
    return 'done'
  })
  const setKeyExpiry = db.transaction((keyId: string, expiresMs: number | undefined, actor: Actor) => {
    const value = expiresMs ?? null
    if (expire.run(value, keyId, value).changes === 0) return known(keyId)
    note(expirySet(keyId, tenantsOf.all(keyId), expiresMs), actor)
    return 'done'
  })
  const setKeyRate = db.transaction((keyId: string, rate: KeyRate | undefined, actor: Actor) => {
    const values = { keyId, perSecond: rate?.perSecond ?? null, burst: rate?.burst ?? null }
    if (changeRate.run(values).changes === 0) return known(keyId)
    note(rateSet(keyId, tenantsOf.all(keyId), rate), actor)
    return 'done'
  })
  const rehashKey = db.transaction((...[keyId, from, hashed, actor]: Parameters<KeyWrites['rehashKey']>) => {
    const { secretHash, pepperId } = hashed
    if (rehash.run(secretHash, pepperId, keyId, from).changes === 0) return 'unchanged'
    note(keyRehashed(keyId, tenantsOf.all(keyId), pepperId), actor)
    return 'done'
  })
  return {
    ...grantWrites(db, note),
    revokeKey: (keyId, revokedMs, actor) => revokeKey.immediate(keyId, revokedMs, actor),
    setKeyExpiry: (keyId, expiresMs, actor) => setKeyExpiry.immediate(keyId, expiresMs, actor),
    setKeyRate: (keyId, rate, actor) => setKeyRate.immediate(keyId, rate, actor),
    rehashKey: (keyId, from, hashed, actor) => rehashKey.immediate(keyId, from, hashed, actor),
  }
}

function grantWrites(db: Connection, note: NoteChanges): Pick<KeyWrites, 'insertKey' | 'grant'> {
  const hasTenant = db.prepare<[string], number>('SELECT 1 FROM tenant WHERE tenant = ?').pluck()
  const keyNo = db.prepare<[string], number>('SELECT key_no FROM key WHERE key_id = ?').pluck()
  const given = db.prepare<[number, string], GrantColumns>(
    'SELECT scopes, branches FROM key_grant WHERE key_no = ? AND tenant = ?',
  )
  const ungrant = db.prepare('DELETE FROM key_grant WHERE key_no = ? AND tenant = ?')
  const addGrant = db.prepare(
    `INSERT INTO key_grant (key_no, grant_no, tenant, scopes, branches)
      SELECT ?, coalesce(max(grant_no) + 1, 0), ?, ?, ? FROM key_grant WHERE key_no = ?`,
  )
  const inserting = recordInserter(db)
  const insert = db.transaction((record: KeyRecord, actor: Actor) => {
    if (keyNo.get(record.keyId) !== undefined) return 'exists'
    if (record.grants.some((grant) => hasTenant.get(grant.tenantId) === undefined)) return 'unknownTenant'
    inserting.key(record)
    note(keyCreated(record), actor)
    return 'created'
  })
  const give = db.transaction((keyId: string, grant: Grant, actor: Actor) => {
    const { tenantId } = grant
    const { scopes, branches } = grantColumns(grant)
    const no = keyNo.get(keyId)
    if (no === undefined) return 'unknownKey'
    if (hasTenant.get(tenantId) === undefined) return 'unknownTenant'
    const before = given.get(no, tenantId)
    if (before?.scopes === scopes && before.branches === branches) return 'done'
    ungrant.run(no, tenantId)
    addGrant.run(no, tenantId, scopes, branches, no)
    note(keyGranted(keyId, grant), actor)
    return 'done'
  })
  return {
    insertKey: (record, actor) => insert.immediate(record, actor),
    grant: (keyId, grant, actor) => give.immediate(keyId, grant, actor),
  }
}
