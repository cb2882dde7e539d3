/**
 * The port's part for deleting a tenant with all it owns (docs/decisions/0044): begun in one commit, which closes it, carried out in
 * steps that any node goes on with, and finished in the commit that takes its name. The row of the deletion stays, as its certificate.
 */
import type { FeedName, Ticks } from '@property-events/protocol'
import type { Actor } from './audit-store.ts'

/**
 * - `exporting`: everything is there, and nothing can be published or read any more
 * - `deleting`: rows are being removed
 * - `forgetting`: no row is left but the tenant's own; nodes may still have pages
 * - `deleted`: nothing is left, and its name can be given again
 */
export type DeletionState = 'exporting' | 'deleting' | 'forgetting' | 'deleted'

/** Who writes the export: a node of the service, the caller of `begin`, or nobody. */
export type DeletionExport = 'service' | 'caller' | 'none'

/** What was written before anything was removed. */
export interface DeletedExport {
  /** Without its folder. */
  readonly file: string
  readonly bytes: number
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256: string
}

/** Of a feed as it was when the deletion began. */
export interface DeletedFeed {
  readonly feed: FeedName
  readonly epoch: string
  /** Of its last event; where it had none, numbers would have begun after it. */
  readonly sequenceNumber: number
  readonly revision: number
  readonly events: number
  /** `null`: it had no event. */
  readonly lastCreated: Ticks | null
}

/** Rows by kind. Of what follows from these, such as ids and views, none is counted. */
export interface OwnedCounts {
  readonly events: number
  readonly subjects: number
  /** That open no other tenant, and go. */
  readonly keys: number
  /** Of keys that open other tenants too, and stay. */
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
  /** Removed so far. */
  readonly counts: OwnedCounts
  /** By feed, of the events removed so far: `nextDigest` of each in order. Hexadecimal digits. */
  readonly digests: Readonly<Record<FeedName, string>>
  /** Milliseconds since 1970, as the next one. */
  readonly begunMs: number
  readonly deletedMs: number | undefined
}

export interface OpenDeletion extends Deletion {
  /** Nodes that hold nothing of its feeds any more. */
  readonly acknowledgedBy: readonly string[]
}

export type DeletionRefusal =
  | { readonly kind: 'unknownTenant' }
  /** Its keys work: it has to be suspended, or to have left, before. */
  | { readonly kind: 'inUse' }
  /** So many of its properties and contacts are not to be erased, the last one until then. */
  | { readonly kind: 'onHold'; readonly holds: number; readonly untilMs: number }
  /** It is being moved to or from another store. */
  | { readonly kind: 'tenantMoving' }
  /** An erasure or a restriction is under way: an export would have what is to be gone. */
  | { readonly kind: 'erasing' }

export type BeginDeletionOutcome =
  /** `isNew` is false where the tenant was being deleted already; `export` counts where it has not been exported. */
  { readonly kind: 'begun'; readonly isNew: boolean; readonly deletion: Deletion } | DeletionRefusal

export type CountOwnedOutcome =
  | { readonly kind: 'counted'; readonly counts: OwnedCounts; readonly feeds: readonly DeletedFeed[] }
  | { readonly kind: 'unknownTenant' }

export interface DeletionStore {
  /**
   * Closes the tenant in one commit, durable when it resolves: nothing is published to it after that, its keys are refused, and it cannot
   * be moved. Publications under way are waited for.
   */
  begin(request: DeletionRequest, actor: Actor): Promise<BeginDeletionOutcome>
  /** Why `begin` would refuse now; `undefined`: it would not. */
  refusal(tenantId: string): Promise<DeletionRefusal | undefined>
  /** What `begin` would have removed. It reads all rows of the tenant but its events. */
  count(tenantId: string): Promise<CountOwnedOutcome>
  /** The node writes the export now. `busy`: another one that lives does, or it is written. */
  takeExport(deletionId: string, nodeId: string): Promise<'taken' | 'busy'>
  /** It is on the disk: from now on rows are removed. `known`: it was written before, and this one counts for nothing. */
  exported(deletionId: string, file: DeletedExport | undefined): Promise<'done' | 'known'>
  /**
   * Removes rows of the tenant, `limit` events at most, in one commit. `finished`: no row is left to remove, and the deletion is
   * `forgetting` or further. `busy`: another node is at it, or it is `exporting`.
   */
  step(deletionId: string, limit: number): Promise<'removed' | 'finished' | 'busy'>
  /**
   * The node holds nothing that it read of the tenant. When every live node (`NodeStore.live`) has said so, what has been added
   * meanwhile is removed, and the tenant with its name, and the deletion is `deleted`. Also asked with no node, by one that only looks.
   */
  acknowledge(deletionId: string, nodeId: string | undefined): Promise<'deleted' | 'waiting'>
  /** Those that are not `deleted`, the oldest first. */
  open(): Promise<readonly OpenDeletion[]>
  find(deletionId: string): Promise<Deletion | undefined>
  /** After the given id, in the order in which they were begun, `limit` at most. */
  list(after: string | undefined, limit: number): Promise<readonly Deletion[]>
  /** Certificates of another store; those whose ids are here already stay as they are. For `copy`. */
  take(deletions: readonly Deletion[]): Promise<void>
}
