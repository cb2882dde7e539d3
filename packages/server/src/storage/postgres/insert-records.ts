/** Inserts any number of tenants and keys, in the transaction of the caller: a few statements, however many there are. */
import { feedNames, viewsOf } from '@property-events/protocol'
import { newEpochId } from '../epoch-id.ts'
import { grantColumns } from '../granted-branches.ts'
import { wordsOf } from '../key-store.ts'
import type { KeyRecord, Tenant } from '../storage.ts'
import { bigints, booleans, bytes, integers, smallints, texts, uuids } from './array.ts'
import type { Session, Statement } from './connection.ts'
import { feedNumbers } from './feed-number.ts'

const insertTenantRows: Statement = {
  name: 'tenants-insert',
  text: `INSERT INTO tenant (tenant, name, created_ms, suspended, reference)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::boolean[], $5::text[])
    ON CONFLICT (tenant) DO NOTHING RETURNING tenant`,
}
/**
 * FOR SHARE: a new epoch that begins meanwhile either includes these feeds or has set their offset already. A tenant that was lost with
 * part of the store and is created again continues after what nodes have shown of it.
 */
const insertFeeds: Statement = {
  name: 'feeds-insert',
  text: `INSERT INTO feed (tenant, feed, epoch, number_offset, revision, last_position)
    SELECT f.tenant, f.feed, f.epoch, greatest(store.first_offset,
      (SELECT l.number FROM lost_number l WHERE l.tenant = f.tenant AND l.feed = f.feed)), 0, 0
    FROM store, unnest($1::uuid[], $2::smallint[], $3::text[]) AS f (tenant, feed, epoch) FOR SHARE OF store`,
}
const insertViews: Statement = {
  name: 'views-insert',
  text: `INSERT INTO view (tenant, feed, view, filter, last_ordinal)
    SELECT v.tenant, v.feed, v.view, format('category = %L', v.view), 0
    FROM unnest($1::uuid[], $2::smallint[], $3::text[]) AS v (tenant, feed, view)`,
}
const insertKeyRows: Statement = {
  name: 'keys-insert',
  text: `INSERT INTO key (key_id, secret_hash, pepper_id, label, operator, created_ms, expires_ms, revoked_ms, last_used_ms,
      rate_per_second, rate_burst, admin_scopes, networks, replaces, event_types, current_only, reference_ids)
    SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::boolean[], $6::bigint[], $7::bigint[],
      $8::bigint[], $9::bigint[], $10::integer[], $11::integer[], $12::text[], $13::text[], $14::text[],
      $15::text[], $16::boolean[], $17::boolean[])
    ON CONFLICT (key_id) DO NOTHING RETURNING key_id`,
}
const insertGrants: Statement = {
  name: 'grants-insert',
  text: `INSERT INTO key_grant (key_no, grant_no, tenant, scopes, branches)
    SELECT key.key_no, g.grant_no, g.tenant, g.scopes, g.branches
    FROM unnest($1::text[], $2::integer[], $3::uuid[], $4::text[], $5::text[]) AS g (key_id, grant_no, tenant, scopes, branches)
    JOIN key USING (key_id)`,
}

/** With their empty feeds. Returns how many it made: if that is not all of them, an id was taken, and nothing else may be made. */
export async function insertTenants(session: Session, tenants: readonly Tenant[]): Promise<number> {
  if (tenants.length === 0) return 0
  const inserted = await session.query(insertTenantRows, [
    uuids(tenants.map(({ tenantId }) => tenantId)),
    texts(tenants.map(({ name }) => name)),
    bigints(tenants.map(({ createdMs }) => createdMs)),
    booleans(tenants.map(({ suspended }) => suspended)),
    texts(tenants.map(({ reference }) => reference ?? null)),
  ])
  if (inserted.length < tenants.length) return inserted.length
  const feedsOf = tenants.flatMap(({ tenantId }) => feedNames.map((feed) => ({ tenantId, feed })))
  await session.query(insertFeeds, [
    uuids(feedsOf.map(({ tenantId }) => tenantId)),
    smallints(feedsOf.map(({ feed }) => feedNumbers[feed])),
    texts(feedsOf.map(() => newEpochId())),
  ])
  const views = feedsOf.flatMap(({ tenantId, feed }) =>
    viewsOf(feed).map((view) => ({ tenantId, feed, view })),
  )
  await session.query(insertViews, [
    uuids(views.map(({ tenantId }) => tenantId)),
    smallints(views.map(({ feed }) => feedNumbers[feed])),
    texts(views.map(({ view }) => view)),
  ])
  return inserted.length
}

/** Keys with their grants; the tenants of the grants must exist. Returns how many it made, as above. */
export async function insertKeys(session: Session, records: readonly KeyRecord[]): Promise<number> {
  if (records.length === 0) return 0
  const inserted = await session.query(insertKeyRows, [
    texts(records.map(({ keyId }) => keyId)),
    bytes(records.map(({ secretHash }) => secretHash)),
    texts(records.map(({ pepperId }) => pepperId)),
    texts(records.map(({ label }) => label)),
    booleans(records.map(({ operator }) => operator)),
    bigints(records.map(({ createdMs }) => createdMs)),
    bigints(records.map(({ expiresMs }) => expiresMs ?? null)),
    bigints(records.map(({ revokedMs }) => revokedMs ?? null)),
    bigints(records.map(({ lastUsedMs }) => lastUsedMs ?? null)),
    integers(records.map(({ rate }) => rate?.perSecond ?? null)),
    integers(records.map(({ rate }) => rate?.burst ?? null)),
    texts(records.map(({ adminScopes }) => wordsOf(adminScopes))),
    texts(records.map(({ networks }) => wordsOf(networks))),
    texts(records.map(({ replaces }) => replaces ?? null)),
    texts(records.map(({ reading }) => reading?.eventTypes ?? null)),
    booleans(records.map(({ reading }) => reading?.current === true)),
    booleans(records.map(({ reading }) => reading?.references === true)),
  ])
  if (inserted.length < records.length) return inserted.length
  const grants = records.flatMap(({ keyId, grants: own }) =>
    own.map((grant, grantNo) => ({ tenantId: grant.tenantId, ...grantColumns(grant), keyId, grantNo })),
  )
  if (grants.length > 0) {
    await session.query(insertGrants, [
      texts(grants.map(({ keyId }) => keyId)),
      integers(grants.map(({ grantNo }) => grantNo)),
      uuids(grants.map(({ tenantId }) => tenantId)),
      texts(grants.map(({ scopes }) => scopes)),
      texts(grants.map(({ branches }) => branches)),
    ])
  }
  return inserted.length
}
