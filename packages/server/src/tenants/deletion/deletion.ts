/**
 * Deleting a tenant with everything it owns (docs/decisions/0044): begun in one commit, which closes the tenant,
 * carried out in steps that any node can continue, and finished in the commit that removes its name. The row of the deletion stays, as
 * its certificate.
 */
import { hash } from 'node:crypto'
import type { FeedName, Ticks } from '@property-events/protocol'
import type { Actor } from '../../audit/actor.ts'

/**
 * - `exporting`: everything is still stored, and nothing can be published or read any more
 * - `deleting`: rows are being removed
 * - `forgetting`: only the tenant's own row is left; nodes may still have pages
 * - `deleted`: nothing is left, and the name can be used again
 */
export type DeletionState = 'exporting' | 'deleting' | 'forgetting' | 'deleted'

/** Who writes the export: a node of the service, the caller of `begin`, or nobody. */
export type DeletionExport = 'service' | 'caller' | 'none'

/** The file that was written before anything was removed. */
export interface DeletedExport {
  /** The file's name without its folder. */
  readonly file: string
  readonly bytes: number
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string
}

/** A feed as it was when the deletion began. */
export interface DeletedFeed {
  readonly feed: FeedName
  readonly epoch: string
  /** The number of its last event; if it had none, the number after which numbering would have begun. */
  readonly sequenceNumber: number
  readonly revision: number
  readonly events: number
  /** `null` if it had no event. */
  readonly lastCreated: Ticks | null
}

/** Rows by kind. Derived rows, such as ids and views, are not counted. */
export interface OwnedCounts {
  readonly events: number
  readonly subjects: number
  /** Keys that open no other tenant, and are removed. */
  readonly keys: number
  /** Grants of keys that also open other tenants, and stay. */
  readonly grants: number
  readonly erasures: number
  readonly holds: number
  readonly restrictions: number
  /** Rows of the ledger of what was sent. */
  readonly sent: number
}

export interface DeletionRequest {
  /** UUIDv7. */
  readonly deletionId: string
  readonly tenantId: string
  readonly export: DeletionExport
}

/** Kept for ever; nothing in it is personal once it is `deleted`. */
export interface Deletion extends DeletionRequest {
  readonly state: DeletionState
  /** `undefined`: the tenant is gone, and its name with it. */
  readonly name: string | undefined
  readonly actor: Actor
  readonly exported: DeletedExport | undefined
  readonly feeds: readonly DeletedFeed[]
  /** The rows removed so far. */
  readonly counts: OwnedCounts
  /** By feed, for the events removed so far: `nextDigest` of each in order. Hexadecimal digits. */
  readonly digests: Readonly<Record<FeedName, string>>
  /** Milliseconds since 1970, like the next one. */
  readonly begunMs: number
  readonly deletedMs: number | undefined
}

export interface OpenDeletion extends Deletion {
  /** Nodes that no longer hold anything of its feeds. */
  readonly acknowledgedBy: readonly string[]
}

export type DeletionRefusal =
  | { readonly kind: 'unknownTenant' }
  /** The tenant's keys work: it has to be suspended, or to have left, first. */
  | { readonly kind: 'inUse' }
  /** This many of its properties and contacts are on hold, the last one until then. */
  | { readonly kind: 'onHold'; readonly holds: number; readonly untilMs: number }
  /** The tenant is being moved to or from another store. */
  | { readonly kind: 'tenantMoving' }
  /** An erasure or a restriction is under way: an export would contain what should be gone. */
  | { readonly kind: 'erasing' }

export type BeginDeletionOutcome =
  /** `isNew` is false if the tenant was already being deleted; `export` counts if it has not been exported. */
  { readonly kind: 'begun'; readonly isNew: boolean; readonly deletion: Deletion } | DeletionRefusal

export type CountOwnedOutcome =
  | { readonly kind: 'counted'; readonly counts: OwnedCounts; readonly feeds: readonly DeletedFeed[] }
  | { readonly kind: 'unknownTenant' }

export interface DeletionStore {
  /**
   * Closes the tenant in one commit, durable when it resolves: after that nothing is published to the tenant, its keys are refused, and
   * it cannot be moved. Waits for publications under way.
   */
  begin(request: DeletionRequest, actor: Actor): Promise<BeginDeletionOutcome>
  /** Why `begin` would refuse now; `undefined` if it would not. */
  refusal(tenantId: string): Promise<DeletionRefusal | undefined>
  /** What `begin` would have removed. Reads all rows of the tenant except its events. */
  count(tenantId: string): Promise<CountOwnedOutcome>
  /** This node writes the export now. `busy`: another live node does, or it has been written. */
  takeExport(deletionId: string, nodeId: string): Promise<'taken' | 'busy'>
  /** The export is on the disk, so rows may be removed from now on. `known`: it was written before, and this one is ignored. */
  exported(deletionId: string, file: DeletedExport | undefined): Promise<'done' | 'known'>
  /**
   * Removes rows of the tenant, at most `limit` events, in one commit. `finished`: no row is left to remove, and the deletion is
   * `forgetting` or further. `busy`: another node is working on it, or it is `exporting`.
   */
  step(deletionId: string, limit: number): Promise<'removed' | 'finished' | 'busy'>
  /**
   * The node no longer holds anything that it read of the tenant. When every live node (`NodeStore.live`) has said so, this removes what
   * has been added meanwhile, and the tenant with its name, and the deletion is `deleted`. A caller that only checks passes no node.
   */
  acknowledge(deletionId: string, nodeId: string | undefined): Promise<'deleted' | 'waiting'>
  /** Deletions that are not `deleted`, the oldest first. */
  open(): Promise<readonly OpenDeletion[]>
  find(deletionId: string): Promise<Deletion | undefined>
  /** After the given id, in the order in which they were begun, at most `limit`. */
  list(after: string | undefined, limit: number): Promise<readonly Deletion[]>
  /** Takes certificates of another store; those whose ids are already here stay as they are. For `copy`. */
  take(deletions: readonly Deletion[]): Promise<void>
}

/** The digest of a feed from which no event has been removed. */
export const firstDigest = '0'.repeat(64)

/** SHA-256 of the previous digest and of the line `sequenceNumber id`: anyone who has the events can compute it again. */
export function nextDigest(digest: string, sequenceNumber: number, id: string): string {
  const line = Buffer.from(`${sequenceNumber} ${id}\n`)
  return hash('sha256', Buffer.concat([Buffer.from(digest, 'hex'), line]), 'hex')
}

const ownedKinds = [
  'events',
  'subjects',
  'keys',
  'grants',
  'erasures',
  'holds',
  'restrictions',
  'sent',
] as const satisfies readonly (keyof OwnedCounts)[]

export const noCounts: OwnedCounts = {
  events: 0,
  subjects: 0,
  keys: 0,
  grants: 0,
  erasures: 0,
  holds: 0,
  restrictions: 0,
  sent: 0,
}

export function withCounts(counts: OwnedCounts, more: Partial<OwnedCounts>): OwnedCounts {
  const added = { ...counts }
  for (const kind of ownedKinds) added[kind] += more[kind] ?? 0
  return added
}
