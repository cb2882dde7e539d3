/** Removes what a tenant owns, some rows at a time, within a transaction. */
import { feedNames } from '@property-events/protocol/plain'
import type { FeedName } from '@property-events/protocol'
import { noCounts, withCounts } from '../deletion-record.ts'
import type { OwnedCounts } from '../deletion-store.ts'
import type { Connection } from './connection.ts'
import { furtherTables, ownedByFeed, ownedByTenant, rowRemovers } from './owned-rows.ts'

interface EventRow {
  readonly position: number
  readonly sequence: number
  readonly id: Uint8Array
  readonly subject: Uint8Array
}

export interface RemovedEvents {
  readonly feed: FeedName
  /** In their order. */
  readonly removed: readonly Pick<EventRow, 'sequence' | 'id'>[]
  readonly counts: Partial<OwnedCounts>
}

export interface RemovedRows {
  readonly counts: OwnedCounts
  /** Each with whether the key stays, for other tenants. */
  readonly keys?: ReadonlyMap<string, boolean>
}

export interface TenantRows {
  /** The next events of a feed with their ids, subjects and views; `undefined`: there are none. */
  removeEvents(tenantId: string, limit: number): RemovedEvents | undefined
  /** Rows that were not removed with events; `undefined`: there are none. */
  removeRest(tenantId: string, limit: number): RemovedRows | undefined
  /** Grants for the tenant, and keys that open no other tenant. */
  removeKeys(tenantId: string, limit: number): RemovedRows | undefined
  /** The tenant itself. */
  removeTenant(tenantId: string, deletionId: string): void
}

export function tenantRows(db: Connection): TenantRows {
  const feedNo = db
    .prepare<[string, string], number>('SELECT feed_no FROM feed WHERE tenant = ? AND feed = ?')
    .pluck()
  const removeEvents = eventRemover(db)
  const { byFeed, byTenant } = furtherTables(db)
  const ofFeed = rowRemovers(db, [...byFeed, ...ownedByFeed])
  const ofTenant = rowRemovers(db, [...byTenant, ...ownedByTenant])
  const removeOne = (removers: typeof ofFeed, tenant: string, no: number, limit: number) => {
    for (const { counted, remove } of removers) {
      const removed = remove({ tenant, feedNo: no }, limit)
      if (removed === 0) continue
      return { counts: withCounts(noCounts, counted === undefined ? {} : { [counted]: removed }) }
    }
    return undefined
  }
  return {
    removeEvents(tenantId, limit) {
      for (const feed of feedNames) {
        const no = feedNo.get(tenantId, feed)
        const found = no === undefined ? undefined : removeEvents(no, limit)
        if (found !== undefined) return { feed, ...found }
      }
      return undefined
    },
    removeRest(tenantId, limit) {
      for (const feed of feedNames) {
        const no = feedNo.get(tenantId, feed)
        const found = no === undefined ? undefined : removeOne(ofFeed, tenantId, no, limit)
        if (found !== undefined) return found
      }
      return removeOne(ofTenant, tenantId, 0, limit)
    },
    removeKeys: keyRemover(db),
    removeTenant: tenantRemover(db),
  }
}

function eventRemover(db: Connection) {
  const next = db.prepare<[number, number, number], EventRow>(
    `SELECT place & 0xffffffffff AS position, sequence, id, subject FROM event
      WHERE place > (? << 40) AND place < ((? + 1) << 40) ORDER BY place LIMIT ?`,
  )
  const removeEvent = db.prepare('DELETE FROM event WHERE place = (? << 40) | ?')
  const removeId = db.prepare('DELETE FROM event_id WHERE feed_no = ? AND id = ?')
  const removeSubject = db.prepare('DELETE FROM subject WHERE feed_no = ? AND subject = ?')
  const viewsOf = db.prepare<[number], string>('SELECT view FROM view WHERE feed_no = ?').pluck()
  const removeEntries = db.prepare(`DELETE FROM view_entry WHERE feed_no = ? AND view = ?
      AND created <= (SELECT created FROM event WHERE place = (? << 40) | ?)`)
  return (feedNo: number, limit: number): Omit<RemovedEvents, 'feed'> | undefined => {
    const rows = next.all(feedNo, feedNo, limit)
    const last = rows.at(-1)
    if (last === undefined) return undefined
    for (const view of viewsOf.all(feedNo)) removeEntries.run(feedNo, view, feedNo, last.position)
    let subjects = 0
    for (const { position, id, subject } of rows) {
      removeEvent.run(feedNo, position)
      removeId.run(feedNo, id)
      subjects += removeSubject.run(feedNo, subject).changes
    }
    return { removed: rows, counts: { events: rows.length, subjects } }
  }
}

function keyRemover(db: Connection): TenantRows['removeKeys'] {
  const grants = db.prepare<[string, number], { readonly key_no: number; readonly key_id: string }>(
    'SELECT DISTINCT key_no, key_id FROM key_grant JOIN key USING (key_no) WHERE tenant = ? ORDER BY key_no LIMIT ?',
  )
  const removeGrants = db.prepare('DELETE FROM key_grant WHERE key_no = ? AND tenant = ?')
  const removeKey = db.prepare(
    'DELETE FROM key WHERE key_no = ? AND NOT EXISTS (SELECT 1 FROM key_grant WHERE key_no = key.key_no)',
  )
  return (tenantId, limit) => {
    const found = grants.all(tenantId, limit)
    if (found.length === 0) return undefined
    const keys = new Map<string, boolean>()
    for (const { key_no: keyNo, key_id: keyId } of found) {
      removeGrants.run(keyNo, tenantId)
      keys.set(keyId, removeKey.run(keyNo).changes === 0)
    }
    const stay = [...keys.values()].filter(Boolean).length
    return { keys, counts: withCounts(noCounts, { keys: keys.size - stay, grants: stay }) }
  }
}

function tenantRemover(db: Connection): TenantRows['removeTenant'] {
  const removals = [
    'DELETE FROM moment WHERE tenant = ?',
    'DELETE FROM leaving_tenant WHERE tenant = ?',
    'DELETE FROM view WHERE feed_no IN (SELECT feed_no FROM feed WHERE tenant = ?)',
    'DELETE FROM feed WHERE tenant = ?',
    'DELETE FROM tenant WHERE tenant = ?',
  ].map((sql) => db.prepare(sql))
  const removeNodes = db.prepare('DELETE FROM tenant_deletion_node WHERE deletion = ?')
  return (tenantId, deletionId) => {
    for (const removal of removals) removal.run(tenantId)
    removeNodes.run(deletionId)
  }
}
