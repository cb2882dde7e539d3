/**
 * THE PORT: everything the service keeps, and what each verb guarantees. One engine implements it; nothing else knows which. Expected
 * outcomes are values; a thrown error means the store itself failed (see `StorageFailure`). One suite, `test/store/contract`, tests
 * everything here on every engine. Its parts are beside it, one file each.
 */
import type { EventTypeCatalogue } from '@property-events/protocol'
import type { AuditStore } from '../audit/audit.ts'
import type { Actor } from '../audit/actor.ts'
import type { BranchViewStore } from '../events/branches/branch-view-store.ts'
import type { ConsoleSessionStore } from '../console/session.ts'
import type { DeletionStore } from '../tenants/deletion/deletion.ts'
import type { ConsumerStore } from '../consumers/consumer.ts'
import type { ErasureStore } from '../privacy/erasure/erasure.ts'
import type { EventStore } from '../events/event-log.ts'
import type { ExpiryStore } from '../privacy/contact-expiry/contact-expiry.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { HoldStore } from '../privacy/hold/hold.ts'
import type { KeyStore } from '../keys/key.ts'
import type { LeavingStore } from '../tenants/leaving/leaving.ts'
import type { DisclosureStore } from '../privacy/disclosure/disclosure.ts'
import type { MaintenanceStore } from '../maintenance/maintenance.ts'
import type { MomentStore } from '../reading/current/moment.ts'
import type { MoveStore } from '../tenants/move/move.ts'
import type { NameStore } from '../audit/names/names.ts'
import type { NodeStore } from '../nodes/node.ts'
import type { PublicationStore } from '../publishing/history/publication.ts'
import type { RestrictionStore } from '../privacy/restriction/restriction.ts'
import type { RetentionStore } from '../privacy/retention/retention.ts'
import type { SilenceStore } from '../consumers/silence/silence.ts'
import type { EpochNeed, LostNumbers, WaitingFeed } from '../events/epochs.ts'
import type { HeldSnapshot, StoreObserver, StoreWork } from '../sql/store-observer.ts'
import type { StoreRecord } from './store-records.ts'
import type { TenantStore } from '../tenants/tenant.ts'
import type { UsageStore } from '../usage/usage.ts'
import type { CopiedWebhooks, WebhookStore } from '../webhooks/endpoint.ts'

/** Recorded once, when a store is created. */
export interface StoreSettings {
  /** Random: the same in a backup of the store, different in every other store. */
  readonly storeId: string
  readonly catalogue: EventTypeCatalogue
  /** The offset of the first epoch: numbers begin after it (D13). */
  readonly startSequence: number
}

export interface StorageEngine extends AsyncDisposable, MaintenanceStore {
  readonly events: EventStore
  readonly keys: KeyStore
  readonly tenants: TenantStore
  readonly nodes: NodeStore
  readonly moves: MoveStore
  readonly moments: MomentStore
  readonly audit: AuditStore
  readonly names: NameStore
  readonly ledger: DisclosureStore
  readonly usage: UsageStore
  readonly publications: PublicationStore
  readonly consumers: ConsumerStore
  readonly silence: SilenceStore
  readonly erasures: ErasureStore
  readonly holds: HoldStore
  readonly restrictions: RestrictionStore
  readonly retention: RetentionStore
  readonly expiry: ExpiryStore
  readonly leaving: LeavingStore
  readonly branchViews: BranchViewStore
  readonly deletions: DeletionStore
  readonly consoleSessions: ConsoleSessionStore
  readonly webhooks: WebhookStore
  /** As recorded in the store. */
  readonly settings: StoreSettings
  /**
   * Begins a new epoch in every feed, or in the given ones (D13): the next number of each is greater than `continueAfter`, than every
   * number the store holds of it, and than every number that a node has reported as shown. Lifts `epochRequired` there. A new epoch in
   * every feed, or the first one in a copy of a store, signs everybody out; in a copy it also ends maintenance, the nodes of the first
   * store are forgotten, and endpoints of webhooks are paused (`copied`) unless `webhooks` says `continue`.
   */
  startEpoch(
    continueAfter: number,
    actor: Actor,
    feeds?: readonly FeedKey[],
    webhooks?: CopiedWebhooks,
  ): Promise<void>
  /**
   * Lifts `epochRequired` without a new epoch, if an operator knows that this is the whole of the store that was served before, moved or
   * upgraded. `missing`: a node has shown numbers that are not here, and nothing is changed.
   */
  acceptHistory(actor: Actor): Promise<'accepted' | 'missing'>
  /** The feeds that wait for a new epoch; all of them if the whole store waits. */
  waitingFeeds(): Promise<readonly WaitingFeed[]>
  /**
   * Calls the listener with everything that this node has shown and finds missing, whenever that changes. Returns a function that stops
   * it.
   */
  onLoss(listener: (lost: readonly LostNumbers[]) => void): () => void
  /** Where `append` answers `epochRequired` now. Like `ping`, it rejects if the store does not answer. */
  epochNeed(): Promise<EpochNeed>
  /**
   * Rewrites everything that ever held a payload, so that the store's own files no longer hold payloads that are in no row: neither in
   * free space nor, on SQLite, in the write-ahead log. Publishing waits meanwhile, and on PostgreSQL reading as well. Rejects with the
   * `StorageRefusal` `in_use` if somebody reads an old state for too long, and `not_permitted` for a role that may not do this; what was
   * rewritten until then stays, and the call can be repeated.
   */
  rewrite(): Promise<void>
  /**
   * Hands over everything the feeds hold as of one moment, piece by piece, each taken before the next is read: for each feed the events
   * after the position that `after` names, all ids and subjects, and its counter; finally the record of the whole.
   */
  exportRecords(
    after: (key: FeedKey) => number,
    take: (records: readonly StoreRecord[]) => Promise<void>,
  ): Promise<void>
  /**
   * Inserts such records, in one commit. Their tenants must exist, and events must follow what the feed holds; otherwise it rejects with
   * a `StorageFailure` and changes nothing. Ids and subjects may be repeated. It is for filling a new store, to which nothing may be
   * published meanwhile (a first record `whole` with `needsEpoch` ensures that).
   */
  importRecords(records: readonly StoreRecord[], actor: Actor): Promise<void>
  /**
   * Removes ids that came with an unchanged payload more than 30 days ago (decision 0003), a few hundred at most, so that no publication
   * waits for longer than a moment. Returns how many it removed: 0 when none is left. Any number of nodes may call it at the same time.
   */
  forgetSkippedIds(): Promise<number>
  /**
   * What keeps old versions of rows alive, the oldest of each kind: everything written meanwhile stays beside them, and slows every
   * look-up. Empty on an engine that keeps no versions.
   */
  heldSnapshots(): Promise<readonly HeldSnapshot[]>
  /** Reports how long things waited, what was retried, and what failed in the background. Returns a function that stops it. */
  observe(observer: StoreObserver): () => void
  /** The present state of the engine's own work, for an operator. Does not read the store. */
  work(): StoreWork
  /** Resolves when the store answers; rejects with a `StorageFailure`. */
  ping(): Promise<void>
  /** Finishes the work that has begun, then closes. Safe to call twice. */
  close(): Promise<void>
}
