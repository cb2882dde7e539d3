/** Writing keys and tenants. */
import { feedNames, viewsOf } from '@property-events/protocol'
import { newEpochId } from '../epoch-id.ts'
import {
  expirySet,
  keyCreated,
  keyGranted,
  keyRehashed,
  keyRevoked,
  rateSet,
  suspensionSet,
  tenantCreated,
} from '../audit-changes.ts'
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
import type { NoteChanges } from './audit.ts'
import type { Database, Session, Statement, Value } from './connection.ts'
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
  text: 'UPDATE tenant SET suspended = $2 WHERE tenant = $1 AND suspended <> $2 RETURNING tenant',
}
const insertKeyRow: Statement = {
  name: 'key-insert',
  text: `INSERT INTO key (key_id, secret_hash, pepper_id, label, operator, created_ms, expires_ms, revoked_ms, last_used_ms,
      rate_per_second, rate_burst)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING RETURNING key_no`,
}
const insertGrant: Statement = {
  name: 'grant-insert',
  text: `INSERT INTO key_grant (key_no, grant_no, tenant, scopes)
    SELECT $1, $2, tenant, $4 FROM tenant WHERE tenant = $3 RETURNING grant_no`,
}
/** An UPDATE where there is one: nodes need not be allowed to delete. */
const setGrant: Statement = {
  name: 'grant-set',
  text: 'UPDATE key_grant SET scopes = $3 WHERE key_no = $1 AND tenant = $2 AND scopes <> $3 RETURNING grant_no',
}
const hasGrant: Statement = {
  name: 'grant-exists',
  text: 'SELECT FROM key_grant WHERE key_no = $1 AND tenant = $2',
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
      await database.write((session) => session.query(use, values))
    },
  }
}

function keyChanges(
  database: Database,
  note: NoteChanges,
): Pick<KeyWrites, 'revokeKey' | 'setKeyExpiry' | 'setKeyRate' | 'rehashKey'> {
  /** Answers with the tenants of the key if the statement changed it. */
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
  grant: Grant,
  note: (changes: readonly AuditChange[]) => Promise<void>,
): Promise<'done' | 'unknownKey' | 'unknownTenant'> {
  const { tenantId, scopes } = grant
  const [key] = await session.query<{ key_no: string }>(lockKey, [keyId])
  if (key === undefined) return 'unknownKey'
  if ((await session.query(hasTenant, [tenantId])).length === 0) return 'unknownTenant'
  const given = [key.key_no, tenantId, scopes.join(' ')]
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
    record.rate?.perSecond ?? null,
    record.rate?.burst ?? null,
  ])
  // Another node was quicker with the same id.
  if (row === undefined) return 'exists'
  for (const [grantNo, { tenantId, scopes }] of record.grants.entries()) {
    await session.query(insertGrant, [row.key_no, grantNo, tenantId, scopes.join(' ')])
  }
  return 'created'
}
