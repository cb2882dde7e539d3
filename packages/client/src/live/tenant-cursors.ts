/** How far each tenant of a key has been read, and which of them have to be read. No I/O. */
import type { EventRun, FeedHead } from '../wire.ts'
import type { FollowPosition } from './follow-options.ts'

/** How far a tenant has been read. */
export interface TenantCursor {
  readonly tenantId: string
  after: number
  /** '' before the first answer, if none was given. */
  epoch: string
  /** -1 before the first answer. */
  revision: number
}

export interface TenantCursors {
  readonly tenants: Map<string, TenantCursor>
  /** Tenants that have moved and have not been read since. */
  readonly unread: Set<TenantCursor>
  /** Tenants that could not be read: they are tried again with the next heads. */
  readonly failed: Set<TenantCursor>
}

export function tenantCursors(given: Iterable<readonly [string, FollowPosition]> = []): TenantCursors {
  const tenants = new Map<string, TenantCursor>()
  for (const [tenantId, { after, epoch = '' }] of given) {
    tenants.set(tenantId.toLowerCase(), { tenantId, after, epoch, revision: -1 })
  }
  return { tenants, unread: new Set(), failed: new Set() }
}

/** Records which tenants have moved. A tenant without a position begins at `beginning`. */
export function recordHeads(cursors: TenantCursors, heads: readonly FeedHead[], beginning: 0 | 'head'): void {
  for (const { tenantId, sequenceNumber, epoch, revision } of heads) {
    const begun = { tenantId, after: 0, epoch, revision: -1 }
    const cursor =
      cursors.tenants.get(tenantId.toLowerCase()) ??
      (beginning === 'head' ? { ...begun, after: sequenceNumber, revision } : begun)
    cursors.tenants.set(tenantId.toLowerCase(), cursor)
    if (cursor.epoch === '') cursor.epoch = epoch
    const isThere = cursor.after === sequenceNumber && cursor.epoch === epoch && cursor.revision === revision
    if (!isThere) cursors.unread.add(cursor)
  }
  for (const cursor of cursors.failed) cursors.unread.add(cursor)
  cursors.failed.clear()
}

/** Takes the next tenants to read. One that has more to read is added again, after the others. */
export function takeUnread({ unread }: TenantCursors, count: number): readonly TenantCursor[] {
  const taken: TenantCursor[] = []
  for (const cursor of unread) {
    if (taken.length === count) break
    taken.push(cursor)
    unread.delete(cursor)
  }
  return taken
}

/** The events of a run have been handed out. */
export function recordRun({ unread }: TenantCursors, cursor: TenantCursor, run: EventRun): void {
  cursor.after = Math.max(cursor.after, run.next)
  cursor.epoch = run.epoch
  cursor.revision = run.revision
  if (run.next < run.head) unread.add(cursor)
}

/** Numbers now mean other events: all of them are read. */
export function beginAnew({ unread }: TenantCursors, cursor: TenantCursor): void {
  cursor.after = 0
  cursor.epoch = ''
  cursor.revision = -1
  unread.add(cursor)
}

/** No tenant can be read at present. */
export function failAll({ unread, failed }: TenantCursors): void {
  for (const cursor of unread) failed.add(cursor)
  unread.clear()
}
