/** The port's part for the audit: who changed or searched what, and when. */
import type {
  AdminScope,
  ContactLimits,
  ErasureReason,
  FeedName,
  GrantScope,
  HoldGround,
  NumberingName,
  RestrictionReason,
  RevealReason,
} from '@property-events/protocol'
import type { DeletionExport } from './deletion-store.ts'
import type { KeyRate } from './key-store.ts'
import type { RetentionRule } from './retention-store.ts'

/**
 * Who changes something, opaque: an API key by its id, somebody at the command line by an id that says no name, or the
 * service itself, which sets up the demo and hashes keys anew.
 */
export type Actor = `key:${string}` | `cli:${string}` | 'service'

/** Where a move of a tenant stands, without the name of the run. */
export type AuditedMove = 'open' | 'leaving' | 'left' | 'arriving' | 'abandoned'

/** What one action says beside its tenant and its target: no free text, so that nobody's name can stand in it. */
interface AuditDetails {
  'tenant.created': { readonly suspended: boolean }
  'tenant.suspended': Nothing
  'tenant.resumed': Nothing
  /** Nothing is published for it any more, and reading ends then. Milliseconds since 1970. */
  'tenant.leaving': { readonly readingEndsMs: number }
  /** It stays after all. */
  'tenant.stays': Nothing
  /** None of its properties is published any more. */
  'tenant.unpublished': Nothing
  /** Published properties of one branch go to another one: so many, at most. Which branches, the row does not say. */
  'branch.moved': { readonly properties: number }
  /** Its name or its reference is another one; which, the row does not say. */
  'tenant.renamed': Nothing
  'tenant.referenced': Nothing
  'tenant.moved': { readonly from: AuditedMove; readonly to: AuditedMove }
  /** It is being deleted with all it owns. The target is the id of the deletion. */
  'tenant.deletion_begun': { readonly export: DeletionExport }
  /** Nothing of it is left. The target is the id of the deletion, whose certificate says more. */
  'tenant.deleted': { readonly events: number; readonly keys: number }
  /** Its tenant was deleted. `stays`: it opens others. */
  'key.removed': { readonly stays: boolean }
  /**
   * `scopes`: for the row's tenant; of an operator's key, those of administration. `branches`: how many the grant is limited to; left out:
   * it is not. Times are milliseconds since 1970.
   */
  'key.created': {
    readonly operator: boolean
    readonly scopes: readonly (GrantScope | AdminScope)[]
    readonly branches?: number
    readonly expiresMs: number | null
    readonly revoked: boolean
    /** Left out: it reads as usual. */
    readonly reading?: { readonly eventTypes: NumberingName | null; readonly current: boolean }
    /** Left out: it reads all of contacts. */
    readonly contact?: ContactLimits
  }
  'key.granted': {
    readonly scopes: readonly GrantScope[]
    readonly contact?: ContactLimits
    readonly branches?: number
  }
  'key.revoked': Nothing
  'key.expiry_set': { readonly expiresMs: number | null }
  /** `null`: that of all keys. */
  'key.rate_set': { readonly rate: KeyRate | null }
  'key.labelled': Nothing
  /** Empty: it may be used from anywhere. */
  'key.networks_set': { readonly networks: readonly string[] }
  /** The target is the key that ends; `by`: the id of the one in its place, which has a row `key.created`. */
  'key.rotated': { readonly by: string; readonly endsMs: number }
  'key.rehashed': { readonly pepperId: string }
  'pepper.finished': Nothing
  /** `continueAfter`: as it was asked for. Without a tenant: in every feed. */
  'epoch.started': { readonly continueAfter: number; readonly feed: FeedName | null }
  'history.accepted': Nothing
  'maintenance.began': { readonly retryAfterSeconds: number }
  'maintenance.ended': Nothing
  /** An event, or all of a property or contact (D17). The target is the id of the receipt. */
  'erasure.begun': {
    readonly feed: FeedName
    readonly of: 'subject' | 'event'
    readonly reason: ErasureReason
  }
  /** A property or contact is not to be erased. The target is the id of the hold. */
  'hold.added': { readonly feed: FeedName; readonly ground: HoldGround; readonly untilMs: number }
  'hold.ended': Nothing
  /** Its day has passed, which was reported. */
  'hold.expired': Nothing
  /** A copy of the whole store was begun: it holds every payload of that moment. The target is the id of the store. */
  'backup.begun': Nothing
  /** What a list of erasures has from before may stay as a restore has brought it back; without a tenant, in all. The target is the id of the store. */
  'erasures.loss_accepted': Nothing
  /** Everything that ever held a payload was rewritten, after so many erasures. The target is the id of the store. */
  'store.compacted': { readonly erasures: number }
  /** A contact is kept and not shown any more. The target is the id of the restriction. */
  'restriction.begun': { readonly reason: RestrictionReason }
  'restriction.lifted': Nothing
  /** `days`: 0 for off, `null` for what the service is set to. */
  'retention.set': { readonly rule: RetentionRule; readonly days: number | null }
  /**
   * How long the publisher of a feed, or a consumer of the key that is the target, may be silent. `ms`: 0 for as long as it likes, `null` for
   * what is learned. Which consumer of the key, the row does not say.
   */
  'interval.expected': { readonly of: FeedName | 'consumer'; readonly ms: number | null }
  /** The agency does not want it erased for its age. The target is the contact's reference. */
  'contact.kept': Nothing
  /** Records of another store were put into this one. `needsEpoch`: more is to come. */
  'store.filled': { readonly firstOffset: number; readonly needsEpoch: boolean }
  /** Somebody looked for contacts: by what, never for whom. */
  'contacts.searched': { readonly by: 'email' | 'phone' | 'name'; readonly found: number }
  'contacts.exported': Nothing
  /** A contact was read as it is, through administration. The target is its reference. */
  'contact.revealed': { readonly reason: RevealReason }
  'exposure.listed': { readonly fromMs: number; readonly toMs: number }
  /** It is shown with a name from now on, which the row does not say. The target is the actor. */
  'actor.named': Nothing
  /** The name is gone; rows stay as they are. The target is the actor. */
  'actor.name_erased': Nothing
  /** Somebody works with the service by hand, with the key that is the target: it was pasted, or came in a link. */
  'session.begun': { readonly by: 'pasted_key' | 'link' }
  'audit.pruned': { readonly beforeMs: number; readonly rows: number }
}

type Nothing = Readonly<Record<string, never>>

export type AuditAction = keyof AuditDetails

/** One change, as a verb describes it. */
export type AuditChange = {
  readonly [Action in AuditAction]: {
    readonly action: Action
    /** `null`: of no tenant. A change that concerns several has one row for each. */
    readonly tenant: string | null
    /** The id of what was changed: a tenant, a key, a pepper. */
    readonly target: string | null
    readonly detail: AuditDetails[Action]
  }
}[AuditAction]

/** As it is kept. Read loosely: a row may be of an action that a newer program has written. */
export interface AuditRow {
  /** UUID version 7 of the row's time. */
  readonly id: string
  /** By the clock of the node that made the change. */
  readonly atMs: number
  readonly actor: string
  readonly action: string
  readonly tenant: string | null
  readonly target: string | null
  readonly detail: Readonly<Record<string, unknown>>
}

export interface AuditQuery {
  /** `oldest`: in the order of commits, to be continued. */
  readonly first: 'oldest' | 'newest'
  /** Only rows that come after this one in that order. */
  readonly after?: string | undefined
  readonly limit: number
  readonly tenant?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly fromMs?: number | undefined
  /** The first millisecond after the time asked for. */
  readonly toMs?: number | undefined
}

/**
 * Every verb of the port that changes something takes an `Actor` and writes its rows in the same commit: there is never a
 * change without its row, nor a row without its change. A verb that finds everything as it was asked to be writes none.
 * A row is never changed, and removed by `prune` alone: the stores refuse anything else.
 */
export interface AuditStore {
  /**
   * Rows by a query. With `first: 'oldest'` no row is ever committed in front of one that was handed over, so that a
   * reader who continues after the last one misses none; it waits for commits under way that could do so.
   * `unknownRow`: there is no row `after` (any more).
   */
  read(query: AuditQuery): Promise<readonly AuditRow[] | 'unknownRow'>
  /** Notes what changed nothing in the store: that somebody looked at personal data. */
  note(change: AuditChange, actor: Actor): Promise<void>
  /** Rows of another store, in their order; those whose ids are here already stay as they are. For `copy`. */
  take(rows: readonly AuditRow[]): Promise<void>
  /**
   * Removes rows of before this time, and notes that it has. Only for the owner of the store: rejects with the
   * `StorageRefusal` `not_permitted` for another role. Returns how many it removed.
   */
  prune(beforeMs: number, actor: Actor): Promise<number>
}
