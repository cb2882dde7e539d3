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
import type { Actor } from './actor.ts'
import type { DeletionExport } from '../tenants/deletion/deletion.ts'
import type { KeyRate } from '../keys/key.ts'
import type { RetentionRule } from '../privacy/retention/retention.ts'
import type { DisableReason, PauseReason } from '../webhooks/endpoint.ts'

/** The state of a tenant's move, without the name of the run. */
export type AuditedMove = 'open' | 'leaving' | 'left' | 'arriving' | 'abandoned'

/** What an action records in addition to its tenant and its target. There is no free text, so that nobody's name can be in it. */
interface AuditDetails {
  'tenant.created': { readonly suspended: boolean }
  'tenant.suspended': Nothing
  'tenant.resumed': Nothing
  /** Nothing is published for the tenant any more, and reading ends at this time. Milliseconds since 1970. */
  'tenant.leaving': { readonly readingEndsMs: number }
  /** The tenant stays after all. */
  'tenant.stays': Nothing
  /** None of the tenant's properties is published any more. */
  'tenant.unpublished': Nothing
  /** Published properties of one branch move to another one: at most this many. The row does not name the branches. */
  'branch.moved': { readonly properties: number }
  /** The tenant has another name or reference, which the row does not contain. */
  'tenant.renamed': Nothing
  'tenant.referenced': Nothing
  /** Whether its receipts warn of duties by law. */
  'tenant.duties_set': { readonly advised: boolean }
  'tenant.moved': { readonly from: AuditedMove; readonly to: AuditedMove }
  /** The tenant is being deleted with everything it owns. The target is the id of the deletion. */
  'tenant.deletion_begun': { readonly export: DeletionExport }
  /** Nothing of the tenant is left. The target is the id of the deletion; its certificate says more. */
  'tenant.deleted': { readonly events: number; readonly keys: number }
  /** The key's tenant was deleted. `stays`: the key opens others. */
  'key.removed': { readonly stays: boolean }
  /**
   * `scopes`: for the row's tenant; for an operator's key, those of administration. `branches`: the number of branches that the grant is
   * limited to; left out: it is not limited. Times are milliseconds since 1970.
   */
  'key.created': {
    readonly operator: boolean
    readonly scopes: readonly (GrantScope | AdminScope)[]
    readonly branches?: number
    readonly expiresMs: number | null
    readonly revoked: boolean
    /** Left out: the key reads in the usual way. */
    readonly reading?: {
      readonly eventTypes: NumberingName | null
      readonly current: boolean
      /** Left out: it is not shown references as transaction ids. */
      readonly references?: boolean
    }
    /** Left out: the key reads all contact data. */
    readonly contact?: ContactLimits
  }
  'key.granted': {
    readonly scopes: readonly GrantScope[]
    readonly contact?: ContactLimits
    readonly branches?: number
  }
  'key.revoked': Nothing
  'key.expiry_set': { readonly expiresMs: number | null }
  /** `null`: the rate of all keys. */
  'key.rate_set': { readonly rate: KeyRate | null }
  'key.labelled': Nothing
  /** Empty: the key may be used from anywhere. */
  'key.networks_set': { readonly networks: readonly string[] }
  /** The target is the key that ends; `by`: the id of its replacement, which has a row `key.created`. */
  'key.rotated': { readonly by: string; readonly endsMs: number }
  'key.rehashed': { readonly pepperId: string }
  'pepper.finished': Nothing
  /** `continueAfter`: as requested. Without a tenant: in every feed. */
  'epoch.started': { readonly continueAfter: number; readonly feed: FeedName | null }
  'history.accepted': Nothing
  'maintenance.began': { readonly retryAfterSeconds: number }
  'maintenance.ended': Nothing
  /** An event, or everything of a property or contact (D17). The target is the id of the receipt. */
  'erasure.begun': {
    readonly feed: FeedName
    readonly of: 'subject' | 'event'
    readonly reason: ErasureReason
  }
  /** A property or contact is protected from erasure. The target is the id of the hold. */
  'hold.added': { readonly feed: FeedName; readonly ground: HoldGround; readonly untilMs: number }
  'hold.ended': Nothing
  /** The hold's day has passed, and this was reported. */
  'hold.expired': Nothing
  /** A copy of the whole store was begun: it holds every payload of that moment. The target is the id of the store. */
  'backup.begun': Nothing
  /**
   * Data that a list of erasures names may stay as a restore has brought it back; without a tenant, for all. The target is the id of the
   * store.
   */
  'erasures.loss_accepted': Nothing
  /** Everything that ever held a payload was rewritten, after this many erasures. The target is the id of the store. */
  'store.compacted': { readonly erasures: number }
  /** A contact is kept but no longer shown. The target is the id of the restriction. */
  'restriction.begun': { readonly reason: RestrictionReason }
  'restriction.lifted': Nothing
  /** `days`: 0 for off, `null` for the setting of the service. */
  'retention.set': { readonly rule: RetentionRule; readonly days: number | null }
  /**
   * How long the publisher of a feed, or a consumer of the key that is the target, may be silent. `ms`: 0 for any length, `null` for the
   * learned one. The row does not say which consumer of the key.
   */
  'interval.expected': { readonly of: FeedName | 'consumer'; readonly ms: number | null }
  /** The agency does not want the contact erased because of its age. The target is the contact's reference. */
  'contact.kept': Nothing
  /** Records of another store were put into this one. `needsEpoch`: more will follow. */
  'store.filled': { readonly firstOffset: number; readonly needsEpoch: boolean }
  /** Contacts were searched: by which kind of value, never for whom. */
  'contacts.searched': { readonly by: 'name' | 'email' | 'phone' | 'address'; readonly found: number }
  'contacts.exported': Nothing
  /** A contact was revealed, through administration. The target is its reference. */
  'contact.revealed': { readonly reason: RevealReason }
  'exposure.listed': { readonly fromMs: number; readonly toMs: number }
  /** The actor is shown with a name from now on, which the row does not contain. The target is the actor. */
  'actor.named': Nothing
  /** The name is gone; rows stay as they are. The target is the actor. */
  'actor.name_erased': Nothing
  /** A person works with the service by hand, with the key that is the target: it was pasted, or came in a link. */
  'session.begun': { readonly by: 'pasted_key' | 'link' }
  /** A tenant's events, or what happens to its endpoints, are posted to an address from now on. The target is the id of the endpoint. */
  'webhook.created': { readonly feed: FeedName; readonly events: 'feed' | 'operations' }
  /** By name, which of its settings are others. */
  'webhook.changed': { readonly settings: readonly string[] }
  'webhook.enabled': Nothing
  'webhook.paused': { readonly reason: PauseReason }
  'webhook.disabled': { readonly reason: DisableReason }
  /** It signs with a new secret; the former ones end at this time. */
  'webhook.secret_added': { readonly formerEndMs: number }
  /** It goes on after this number. */
  'webhook.moved': { readonly after: number }
  /** Events of so many properties are sent again. */
  'webhook.resent': { readonly properties: number }
  'webhook.removed': Nothing
  'audit.pruned': { readonly beforeMs: number; readonly rows: number }
}

type Nothing = Readonly<Record<string, never>>

type AuditAction = keyof AuditDetails

/** One change, as a verb describes it. */
export type AuditChange = {
  readonly [Action in AuditAction]: {
    readonly action: Action
    /** `null`: no tenant. A change that concerns several tenants has one row for each. */
    readonly tenant: string | null
    /** The id of what was changed: a tenant, a key, a pepper. */
    readonly target: string | null
    readonly detail: AuditDetails[Action]
  }
}[AuditAction]

/** A row as stored. It is read loosely, because a newer program may have written an action that this one does not know. */
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
  /** `oldest`: in the order of commits, which can be continued. */
  readonly first: 'oldest' | 'newest'
  /** Only rows that come after this one in that order. */
  readonly after?: string | undefined
  readonly limit: number
  readonly tenant?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly fromMs?: number | undefined
  /** The first millisecond after the requested time. */
  readonly toMs?: number | undefined
}

/**
 * Every verb of the port that changes something takes an `Actor` and writes its rows in the same commit: there is never a change without
 * its row, nor a row without its change. A verb that finds everything as requested writes none. A row never changes, and only `prune`
 * removes it: the stores refuse anything else.
 */
export interface AuditStore {
  /**
   * Rows by a query. With `first: 'oldest'`, no row is ever committed before one that has already been returned, so that a reader who
   * continues after the last one misses none; it waits for commits under way that could do so. `unknownRow`: there is no row `after` (any
   * more).
   */
  read(query: AuditQuery): Promise<readonly AuditRow[] | 'unknownRow'>
  /** Records something that changed nothing in the store: that personal data was looked at. */
  note(change: AuditChange, actor: Actor): Promise<void>
  /** Takes rows of another store, in their order; rows whose ids are already here stay as they are. For `copy`. */
  take(rows: readonly AuditRow[]): Promise<void>
  /**
   * Removes rows from before this time, and records that. Only for the owner of the store: rejects with the `StorageRefusal`
   * `not_permitted` for another role. Returns how many it removed.
   */
  prune(beforeMs: number, actor: Actor): Promise<number>
}
