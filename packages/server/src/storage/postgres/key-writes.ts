/** Writes keys and tenants. */
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
import type {
  AuditChange,
  Grant,
  KeyRecord,
  KeyStore,
  NewTenantOptions,
  NewTenantOutcome,
  Tenant,
} from '../storage.ts'
import { bigints, texts, uuids } from './array.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import type { Database, Session, Statement, Value } from './connection.ts'
import { insertKeys, insertTenants } from './insert-records.ts'
import { noteLockWaitMs } from '../../sql/database.ts'

/**
 * One new name or reference at a time. Readers, publishers and everything else that names a tenant only read the table, and do not wait.
 */
export const lockNames: Statement = {
  name: 'tenant-lock',
  text: 'LOCK TABLE tenant IN SHARE ROW EXCLUSIVE MODE',
}
/** Nobody deletes the tenant before the commit. */
const hasTenant: Statement = {
  name: 'tenant-exists',
  text: 'SELECT FROM tenant WHERE tenant = $1 FOR KEY SHARE',
}
const hasReference: Statement = {
  name: 'tenant-reference',
  text: 'SELECT FROM tenant WHERE reference = $1',
}
const hasName: Statement = { name: 'tenant-name', text: 'SELECT FROM tenant WHERE name = $1 LIMIT 1' }
const suspend: Statement = {
  name: 'tenant-suspend',
  text: 'UPDATE tenant SET suspended = $2 WHERE tenant = $1 AND suspended <> $2 RETURNING tenant',
}
/** An UPDATE if there is a row: nodes need not be allowed to delete. */
const setGrant: Statement = {
  name: 'grant-set',
  text: `UPDATE key_grant SET scopes = $3, branches = $4
    WHERE key_no = $1 AND tenant = $2 AND (scopes, branches) IS DISTINCT FROM ($3::text, $4::text) RETURNING grant_no`,
}
const hasGrant: Statement = {
  name: 'grant-exists',
  text: 'SELECT FROM key_grant WHERE key_no = $1 AND tenant = $2',
}
const addGrant: Statement = {
  name: 'grant-add',
  text: `INSERT INTO key_grant (key_no, grant_no, tenant, scopes, branches)
    SELECT $1, coalesce(max(grant_no) + 1, 0), $2, $3, $4 FROM key_grant WHERE key_no = $1`,
}
/** Grants to one key are given one at a time. */
export const lockKey: Statement = {
  name: 'key-lock',
  text: 'SELECT key_no FROM key WHERE key_id = $1 FOR UPDATE',
}
const hasKey: Statement = { name: 'key-exists', text: 'SELECT FROM key WHERE key_id = $1' }
const countTenants: Statement = {
  name: 'tenant-count',
  text: `SELECT count(*) AS count FROM (
      SELECT FROM tenant WHERE tenant = ANY ($1::uuid[]) ORDER BY tenant FOR KEY SHARE
    ) AS held`,
}
const tenantsOfKey =
  'ARRAY(SELECT g.tenant::text FROM key_grant g WHERE g.key_no = key.key_no ORDER BY grant_no) AS tenants'
const revoke: Statement = {
  name: 'key-revoke',
  text: `UPDATE key SET revoked_ms = $2 WHERE key_id = $1 AND revoked_ms IS NULL RETURNING ${tenantsOfKey}`,
}
const expire: Statement = {
  name: 'key-expire',
  text: `UPDATE key SET expires_ms = $2 WHERE key_id = $1 AND expires_ms IS DISTINCT FROM $2 RETURNING ${tenantsOfKey}`,
}
const setRate: Statement = {
  name: 'key-rate',
  text: `UPDATE key SET rate_per_second = $2, rate_burst = $3
    WHERE key_id = $1 AND (rate_per_second, rate_burst) IS DISTINCT FROM ($2::integer, $3::integer) RETURNING ${tenantsOfKey}`,
}
const rehash: Statement = {
  name: 'key-rehash',
  text: `UPDATE key SET secret_hash = $3, pepper_id = $4 WHERE key_id = $1 AND pepper_id = $2 RETURNING ${tenantsOfKey}`,
}
/** In order of id, so that two nodes that report uses of the same keys never wait in a circle. */
const use: Statement = {
  name: 'key-use',
  text: `WITH used AS (
      SELECT key_no, used_ms FROM key JOIN unnest($1::text[], $2::bigint[]) AS given (key_id, used_ms) USING (key_id)
      ORDER BY key_no FOR UPDATE OF key
    ), latest AS (SELECT key_no, max(used_ms) AS used_ms FROM used GROUP BY key_no)
    UPDATE key SET last_used_ms = greatest(last_used_ms, latest.used_ms) FROM latest WHERE key.key_no = latest.key_no`,
}

export type KeyWrites = Omit<
  KeyStore,
  'tenants' | 'findKey' | 'keysVersion' | 'keys' | 'keyIds' | 'pepperIdsInUse'
>

export function keyWrites(database: Database, note: NoteChanges): KeyWrites {
  return {
    createTenant: (tenant, actor, options) =>
      database.transaction(async (session) => {
        const outcome = await createTenant(session, tenant, options)
        if (outcome === 'created') await note(session, tenantCreated(tenant), actor)
        return outcome
      }),
    setTenantSuspended: (tenantId, suspended, actor) =>
      database.transaction(async (session) => {
        const changed = await session.query(suspend, [tenantId, suspended])
        if (changed.length > 0) await note(session, suspensionSet(tenantId, suspended), actor)
        else if ((await session.query(hasTenant, [tenantId])).length === 0) return 'unknownTenant'
        return 'done'
      }),
    insertKey: (record, actor) =>
      database.transaction(async (session) => {
        const outcome = await insertKey(session, record)
        if (outcome === 'created') await note(session, keyCreated(record), actor)
        return outcome
      }),
    grant: (keyId, grant, actor) =>
      database.transaction((session) =>
        giveGrant(session, keyId, grant, (changes) => note(session, changes, actor)),
      ),
    ...keyChanges(database, note),
    async recordKeyUses(uses) {
      const values = [texts(uses.map(({ keyId }) => keyId)), bigints(uses.map(({ usedMs }) => usedMs))]
      await database.write((session) => session.query(use, values), noteLockWaitMs)
    },
  }
}

function keyChanges(
  database: Database,
  note: NoteChanges,
): Pick<KeyWrites, 'revokeKey' | 'setKeyExpiry' | 'setKeyRate' | 'rehashKey'> {
  /** Returns the tenants of the key if the statement changed it. */
  const change = async (
    session: Session,
    statement: Statement,
    values: readonly Value[],
  ): Promise<readonly string[] | undefined> => {
    const [row] = await session.query<{ tenants: readonly string[] }>(statement, values)
    return row?.tenants
  }
  const known = async (session: Session, keyId: string): Promise<'done' | 'unknownKey'> =>
    (await session.query(hasKey, [keyId])).length === 0 ? 'unknownKey' : 'done'
  return {
    revokeKey: (keyId, revokedMs, actor) =>
      database.transaction(async (session) => {
        const tenants = await change(session, revoke, [keyId, revokedMs])
        if (tenants === undefined) return known(session, keyId)
        await note(session, keyRevoked(keyId, tenants), actor)
        return 'done'
      }),
    setKeyExpiry: (keyId, expiresMs, actor) =>
      database.transaction(async (session) => {
        const tenants = await change(session, expire, [keyId, expiresMs ?? null])
        if (tenants === undefined) return known(session, keyId)
        await note(session, expirySet(keyId, tenants, expiresMs), actor)
        return 'done'
      }),
    setKeyRate: (keyId, rate, actor) =>
      database.transaction(async (session) => {
        const values = [keyId, rate?.perSecond ?? null, rate?.burst ?? null]
        const tenants = await change(session, setRate, values)
        if (tenants === undefined) return known(session, keyId)
        await note(session, rateSet(keyId, tenants, rate), actor)
        return 'done'
      }),
    rehashKey: (keyId, fromPepperId, { secretHash, pepperId }, actor) =>
      database.transaction(async (session) => {
        const values = [keyId, fromPepperId, Buffer.from(secretHash), pepperId]
        const tenants = await change(session, rehash, values)
        if (tenants === undefined) return 'unchanged'
        await note(session, keyRehashed(keyId, tenants, pepperId), actor)
        return 'done'
      }),
  }
}

async function createTenant(
  session: Session,
  tenant: Tenant,
  options: NewTenantOptions = {},
): Promise<NewTenantOutcome> {
  const { tenantId, name, reference } = tenant
  if (options.sameName !== 'allowed' || reference !== undefined) {
    // Only a statement after the lock sees what the previous session committed.
    await session.query(lockNames, [])
    if ((await session.query(hasTenant, [tenantId])).length > 0) return 'exists'
    if (options.sameName !== 'allowed' && (await session.query(hasName, [name])).length > 0)
      return 'nameTaken'
    if (reference !== undefined && (await session.query(hasReference, [reference])).length > 0) {
      return 'referenceTaken'
    }
  }
  return (await insertTenants(session, [tenant])) === 1 ? 'created' : 'exists'
}

async function giveGrant(
  session: Session,
  keyId: string,
  grant: Grant,
  note: (changes: readonly AuditChange[]) => Promise<void>,
): Promise<'done' | 'unknownKey' | 'unknownTenant'> {
  const { tenantId } = grant
  const { scopes, branches } = grantColumns(grant)
  const [key] = await session.query<{ key_no: string }>(lockKey, [keyId])
  if (key === undefined) return 'unknownKey'
  if ((await session.query(hasTenant, [tenantId])).length === 0) return 'unknownTenant'
  const given = [key.key_no, tenantId, scopes, branches]
  if ((await session.query(setGrant, given)).length === 0) {
    if ((await session.query(hasGrant, [key.key_no, tenantId])).length > 0) return 'done'
    await session.query(addGrant, given)
  }
  await note(keyGranted(keyId, grant))
  return 'done'
}

async function insertKey(
  session: Session,
  record: KeyRecord,
): Promise<'created' | 'exists' | 'unknownTenant'> {
  if ((await session.query(hasKey, [record.keyId])).length > 0) return 'exists'
  const tenantIds = [...new Set(record.grants.map(({ tenantId }) => tenantId))]
  const [found] = await session.query<{ count: string }>(countTenants, [uuids(tenantIds)])
  if (Number(found?.count) < tenantIds.length) return 'unknownTenant'
  // Fewer if another node was quicker with the same id.
  return (await insertKeys(session, [record])) === 1 ? 'created' : 'exists'
}
