/** Inserts tenants and keys, in the transaction of the caller, which has checked that they may be inserted. */
import { feedNames, viewsOf } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import { newEpochId } from '../epoch-id.ts'
import { grantColumns } from '../granted-branches.ts'
import { wordsOf } from '../key-store.ts'
import type { KeyRecord, Tenant } from '../storage.ts'
import type { Connection } from './connection.ts'
import { metaOf } from './meta.ts'

export interface RecordInserter {
  /** With its empty feeds. */
  tenant(tenant: Tenant): void
  /** With its grants. */
  key(record: KeyRecord): void
}

/** Never a number that was given before, even if the last row has been removed since. */
function nextNumber(table: 'tenant' | 'feed' | 'key'): string {
  const last = `(SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'last_${table}_no')`
  return `(SELECT 1 + max(coalesce(max(${table}_no), 0), coalesce(${last}, 0)) FROM ${table})`
}

export function recordInserter(db: Connection): RecordInserter {
  return { tenant: tenantInserter(db), key: keyInserter(db) }
}

function tenantInserter(db: Connection): RecordInserter['tenant'] {
  const insertTenant = db.prepare(
    `INSERT INTO tenant (tenant_no, tenant, name, created_ms, suspended, reference)
      VALUES (${nextNumber('tenant')}, ?, ?, ?, ?, ?)`,
  )
  const insertFeed = db.prepare(
    `INSERT INTO feed (feed_no, tenant, feed, epoch, offset, revision, last_position)
      VALUES (coalesce(?, ${nextNumber('feed')}), ?, ?, ?, ?, 0, 0)`,
  )
  const insertView = db.prepare('INSERT INTO view (feed_no, view, filter, last_ordinal) VALUES (?, ?, ?, 0)')
  const numbersOf = db.prepare<[string], Readonly<Record<FeedName, number>>>(
    `SELECT property_no AS property, contact_no AS contact FROM tenant_deletion
      WHERE tenant = ? AND property_no IS NOT NULL ORDER BY deletion DESC LIMIT 1`,
  )
  const meta = metaOf(db)
  return ({ tenantId, name, createdMs, suspended, reference }) => {
    insertTenant.run(tenantId, name, createdMs, suspended ? 1 : 0, reference ?? null)
    const offset = Number(meta.get('first_offset'))
    const before = numbersOf.get(tenantId)
    for (const feed of feedNames) {
      const feedNo = insertFeed.run(
        before?.[feed] ?? null,
        tenantId,
        feed,
        newEpochId(),
        offset,
      ).lastInsertRowid
      for (const view of viewsOf(feed)) insertView.run(feedNo, view, `category = '${view}'`)
    }
  }
}

function keyInserter(db: Connection): RecordInserter['key'] {
  const insertKey = db.prepare(
    `INSERT INTO key (key_no, key_id, secret_hash, pepper_id, label, operator, created_ms, expires_ms, revoked_ms, last_used_ms,
        rate_per_second, rate_burst, admin_scopes, networks, replaces, event_types,
        current_only, reference_ids)
      VALUES (${nextNumber('key')}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertGrant = db.prepare(
    'INSERT INTO key_grant (key_no, grant_no, tenant, scopes, branches) VALUES (?, ?, ?, ?, ?)',
  )
  return (record) => {
    const keyNo = insertKey.run(
      record.keyId,
      record.secretHash,
      record.pepperId,
      record.label,
      record.operator ? 1 : 0,
      record.createdMs,
      record.expiresMs ?? null,
      record.revokedMs ?? null,
      record.lastUsedMs ?? null,
      record.rate?.perSecond ?? null,
      record.rate?.burst ?? null,
      wordsOf(record.adminScopes),
      wordsOf(record.networks),
      record.replaces ?? null,
      record.reading?.eventTypes ?? null,
      record.reading?.current === true ? 1 : 0,
      record.reading?.references === true ? 1 : 0,
    ).lastInsertRowid
    for (const [grantNo, grant] of record.grants.entries()) {
      const { scopes, branches } = grantColumns(grant)
      insertGrant.run(keyNo, grantNo, grant.tenantId, scopes, branches)
    }
  }
}
