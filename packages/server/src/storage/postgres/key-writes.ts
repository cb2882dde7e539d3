/** Writing keys and tenants. */
import { feedNames, viewsOf } from '@property-events/protocol'
import { newEpochId } from '../epoch-id.ts'
import type { Grant, KeyRecord, KeyStore, NewTenantOptions, NewTenantOutcome, Tenant } from '../storage.ts'
import { bigints, texts, uuids } from './array.ts'
import type { Database, Session, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

/** One new name at a time. Readers, publishers and all else that names a tenant only read the table, and do not wait. */
const lockNames: Statement = { name: 'tenant-lock', text: 'LOCK TABLE tenant IN SHARE ROW EXCLUSIVE MODE' }
const hasTenant: Statement = { name: 'tenant-exists', text: 'SELECT FROM tenant WHERE tenant = $1' }
const hasName: Statement = { name: 'tenant-name', text: 'SELECT FROM tenant WHERE name = $1 LIMIT 1' }
const insertTenant: Statement = {
  name: 'tenant-insert',
  text: `INSERT INTO tenant (tenant, name, created_ms, suspended) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING RETURNING tenant`,
}
/**
 * FOR SHARE: a new epoch that begins meanwhile either counts this feed or has given its offset already. A tenant that was lost with
 * part of the store and is made again goes on after what nodes have shown of it.
 */
const insertFeed: Statement = {
  name: 'feed-insert',
  text: `INSERT INTO feed (tenant, feed, epoch, number_offset, revision, last_position)
    SELECT $1, $2, $3, greatest(first_offset,
      (SELECT l.number FROM lost_number l WHERE l.tenant = $1::uuid AND l.feed = $2::smallint)), 0, 0
    FROM store FOR SHARE OF store`,
}
const insertView: Statement = {
  name: 'view-insert',
  text: 'INSERT INTO view (tenant, feed, view, filter, last_ordinal) VALUES ($1, $2, $3, $4, 0)',
}
const suspend: Statement = {
  name: 'tenant-suspend',
  text: 'UPDATE tenant SET suspended = $2 WHERE tenant = $1 RETURNING tenant',
}
const insertKeyRow: Statement = {
  name: 'key-insert',
  text: `INSERT INTO key (key_id, secret_hash, pepper_id, label, operator, created_ms, expires_ms, revoked_ms, last_used_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING key_no`,
}
const insertGrant: Statement = {
  name: 'grant-insert',
  text: `INSERT INTO key_grant (key_no, grant_no, tenant, scopes)
    SELECT $1, $2, tenant, $4 FROM tenant WHERE tenant = $3 RETURNING grant_no`,
}
/** An UPDATE where there is one: nodes need not be allowed to delete. */
const setGrant: Statement = {
  name: 'grant-set',
  text: 'UPDATE key_grant SET scopes = $3 WHERE key_no = $1 AND tenant = $2 RETURNING grant_no',
}
const addGrant: Statement = {
  name: 'grant-add',
  text: `INSERT INTO key_grant (key_no, grant_no, tenant, scopes)
    SELECT $1, coalesce(max(grant_no) + 1, 0), $2, $3 FROM key_grant WHERE key_no = $1`,
}
/** Grants to one key are given one at a time. */
const lockKey: Statement = { name: 'key-lock', text: 'SELECT key_no FROM key WHERE key_id = $1 FOR UPDATE' }
const hasKey: Statement = { name: 'key-exists', text: 'SELECT FROM key WHERE key_id = $1' }
const countTenants: Statement = {
  name: 'tenant-count',
  text: 'SELECT count(*) AS count FROM tenant WHERE tenant = ANY ($1::uuid[])',
}
const revoke: Statement = {
  name: 'key-revoke',
  text: 'UPDATE key SET revoked_ms = coalesce(revoked_ms, $2) WHERE key_id = $1 RETURNING key_no',
}
const expire: Statement = {
  name: 'key-expire',
  text: 'UPDATE key SET expires_ms = $2 WHERE key_id = $1 RETURNING key_no',
}
const rehash: Statement = {
  name: 'key-rehash',
  text: 'UPDATE key SET secret_hash = $3, pepper_id = $4 WHERE key_id = $1 AND pepper_id = $2 RETURNING key_no',
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

export type KeyWrites = Omit<KeyStore, 'tenants' | 'findKey' | 'keys' | 'keyIds' | 'pepperIdsInUse'>

export function keyWrites(database: Database): KeyWrites {
  const changed = (statement: Statement, values: Parameters<Session['query']>[1]): Promise<boolean> =>
    database.write(async (session) => (await session.query(statement, values)).length > 0)

  return {
    createTenant: (tenant, options) =>
      database.transaction((session) => createTenant(session, tenant, options)),
    async setTenantSuspended(tenantId, suspended) {
      return (await changed(suspend, [tenantId, suspended])) ? 'done' : 'unknownTenant'
    },
    insertKey: (record) => database.transaction((session) => insertKey(session, record)),
    grant: (keyId, grant) => database.transaction((session) => giveGrant(session, keyId, grant)),
    async revokeKey(keyId, revokedMs) {
      return (await changed(revoke, [keyId, revokedMs])) ? 'done' : 'unknownKey'
    },
    async setKeyExpiry(keyId, expiresMs) {
      return (await changed(expire, [keyId, expiresMs ?? null])) ? 'done' : 'unknownKey'
    },
    async rehashKey(keyId, fromPepperId, { secretHash, pepperId }) {
      const values = [keyId, fromPepperId, Buffer.from(secretHash), pepperId]
      return (await changed(rehash, values)) ? 'done' : 'unchanged'
    },
    async recordKeyUses(uses) {
      const ids = uses.map(({ keyId }) => keyId)
      await changed(use, [texts(ids), bigints(uses.map(({ usedMs }) => usedMs))])
    },
  }
}

async function createTenant(
  session: Session,
  { tenantId, name, createdMs, suspended }: Tenant,
  options: NewTenantOptions = {},
): Promise<NewTenantOutcome> {
  if (options.sameName !== 'allowed') {
    // Only a statement after the lock sees what the one before committed.
    await session.query(lockNames, [])
    if ((await session.query(hasTenant, [tenantId])).length > 0) return 'exists'
    if ((await session.query(hasName, [name])).length > 0) return 'nameTaken'
  }
  const inserted = await session.query(insertTenant, [tenantId, name, createdMs, suspended])
  if (inserted.length === 0) return 'exists'
  for (const feed of feedNames) {
    await session.query(insertFeed, [tenantId, feedNumbers[feed], newEpochId()])
    for (const view of viewsOf(feed)) {
      await session.query(insertView, [tenantId, feedNumbers[feed], view, `category = '${view}'`])
    }
  }
  return 'created'
}

async function giveGrant(
  session: Session,
  keyId: string,
  { tenantId, scopes }: Grant,
): Promise<'done' | 'unknownKey' | 'unknownTenant'> {
  const [key] = await session.query<{ key_no: string }>(lockKey, [keyId])
  if (key === undefined) return 'unknownKey'
  if ((await session.query(hasTenant, [tenantId])).length === 0) return 'unknownTenant'
  const given = [key.key_no, tenantId, scopes.join(' ')]
  if ((await session.query(setGrant, given)).length === 0) await session.query(addGrant, given)
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
  const [row] = await session.query<{ key_no: string }>(insertKeyRow, [
    record.keyId,
    Buffer.from(record.secretHash),
    record.pepperId,
    record.label,
    record.operator,
    record.createdMs,
    record.expiresMs ?? null,
    record.revokedMs ?? null,
    record.lastUsedMs ?? null,
  ])
  // Another node was quicker with the same id.
  if (row === undefined) return 'exists'
  for (const [grantNo, { tenantId, scopes }] of record.grants.entries()) {
    await session.query(insertGrant, [row.key_no, grantNo, tenantId, scopes.join(' ')])
  }
  return 'created'
}
