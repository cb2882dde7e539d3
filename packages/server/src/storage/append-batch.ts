/** The port's part for publishing: what an append is given, and what it answers. */
import type { Category, Ticks } from '@property-events/protocol'
import type { FeedKey } from './feed-key.ts'

/** An event as a publisher sent it, checked and hashed, with all that needs the store still open. */
export interface EventDraft {
  /** Lower-case UUID. */
  readonly id: string
  /** The publisher chose the id: it is the repeat key (D14), and stays taken, for 30 days, even when `unchanged` stores nothing. */
  readonly idGiven: boolean
  /** Lower-case UUID of the property or contact (D16). */
  readonly subjectId: string
  /** The same UUID as this draft spells it. The subject's first event decides for all later ones (D15). */
  readonly subjectSpelling: string
  /** As sent; `undefined`: the subject as its first event spells it (D15). */
  readonly transactionId: string | undefined
  readonly content: DraftContent
  /** The short code the publisher named; `undefined` lets the subject's previous state decide (D12). */
  readonly eventTypeShortCode: string | undefined
  /** The category the publisher named (D23). */
  readonly category: Category | undefined
  /** SHA-256 over payload text, type, transaction id and category as sent (D14). 32 bytes. */
  readonly contentHash: Uint8Array
  /** The service's own event with which a restriction begins or ends (D17). */
  readonly restriction?: 'begins' | 'ends'
  /** Internal loading only (D25): the time this event would like; it gets that, or the last one's plus a tick. */
  readonly wishedCreated?: Ticks
}

export type DraftContent = PayloadContent | RemovalContent | ErasedContent | MovedContent

export interface PayloadContent {
  readonly kind: 'payload'
  /** The payload text, byte for byte as it will be served (D22). */
  readonly text: string
  /** SHA-256 of the text. 32 bytes. */
  readonly hash: Uint8Array
  /** The payload's own `published`; `undefined` where absent or null, which needs a named event type. */
  readonly published: boolean | undefined
  readonly branch: string | undefined
  /** What the payload's fields say about the category (D23). */
  readonly impliedCategory: Category | undefined
  /** Of the payload's `update_date` (`updateDateHashOf`); `null` where it has none. */
  readonly updateDateHash: Uint8Array | null
}

/** The subject's last payload with `published` false and `removal_reason` added (D26). */
export interface RemovalContent {
  readonly kind: 'removal'
  /** JSON text of the reason. */
  readonly reason: string | undefined
}

/** The event that closes a subject that is being erased (D17). Only the service itself makes it, and no repeat finds it. */
export interface ErasedContent {
  readonly kind: 'erased'
}

/**
 * The property's last payload with another `branch_id`, where that is published and of the branch `from`; else it changes nothing, in a
 * batch with `unchanged: 'skip'`. Only the service itself makes it.
 */
export interface MovedContent {
  readonly kind: 'moved'
  readonly from: string
  readonly to: string
}

/** What one request publishes to one feed: stored whole, in order, or not at all (P6). */
export interface AppendBatch {
  readonly key: FeedKey
  readonly drafts: readonly EventDraft[]
  /** `skip`: a payload equal to its subject's latest stores nothing. */
  readonly unchanged: 'store' | 'skip'
  /**
   * Its publisher is limited to these branches (D11): everything it publishes, and every property it changes, has to be of one of them.
   * Left out: of any, or of none.
   */
  readonly branches?: readonly string[] | undefined
}

/** One line of a receipt. A derived event stands before the event that caused it, with the same `index`. */
export interface AppendedEvent {
  /** Index of the draft. */
  readonly index: number
  readonly status: 'appended' | 'derived' | 'repeated' | 'unchanged'
  readonly id: string
  readonly eventType: number
  readonly eventTypeShortCode: string
  readonly transactionId: string
  /** Absent only in a preview, for what would be stored. */
  readonly stored?: { readonly sequenceNumber: number; readonly createdDate: string }
  /** Remarks for its publisher that follow from the subject's earlier events; only for what is appended. */
  readonly remarks?: readonly AppendRemark[]
}

/** What only the subject's earlier events tell about a new one. */
export type AppendRemark =
  /** The payload is another one, or the property comes back, and `update_date` is what it was. */
  | 'updateDateUnchanged'
  /** The transaction id sent is the subject's UUID, but not as its first event spells it. */
  | 'otherSpelling'
  /** The contact is restricted: the event is kept and not shown (D17). */
  | 'restricted'

export type AppendOutcome =
  /** Everything is on disk (P7), or was there before. */
  | { readonly kind: 'stored'; readonly events: readonly AppendedEvent[] }
  /** The id is taken by other content, or by an event whose content is gone (D14). */
  | {
      readonly kind: 'idConflict'
      readonly index: number
      readonly id: string
      /** The content of the event with this id was erased, so there is nothing to compare with (D17). */
      readonly isGone?: true
    }
  /** A removal of a subject that has no event. */
  | { readonly kind: 'unknownSubject'; readonly index: number; readonly subjectId: string }
  /**
   * The publisher is limited to branches, and the payload is of another one, or of none; or the property is, by its latest event.
   * It is found under the feed's lock, so that no change of its branch comes in between.
   */
  | { readonly kind: 'branchNotGranted'; readonly index: number; readonly of: 'payload' | 'subject' }
  /** No such tenant. */
  | { readonly kind: 'unknownFeed' }
  /** The feed's head is more than 5 minutes ahead of the clock (D25). */
  | { readonly kind: 'clockBehind'; readonly headCreated: Ticks; readonly now: Ticks }
  /** The store was restored; numbers may have been shown that it does not hold (D13). `startEpoch` lifts it. */
  | { readonly kind: 'epochRequired' }
  /** The tenant is being moved to another store, or was (`MoveState`). Nothing of the batch is stored here. */
  | { readonly kind: 'tenantMoving' }
