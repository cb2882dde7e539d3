/** The port's part for publishing: what an append is given, and what it returns. */
import type { Category, Ticks } from '@property-events/protocol'
import type { FeedRefusal } from '../feed.ts'
import type { FeedKey } from '../feed-key.ts'

/** An event as a publisher sent it, checked and hashed; everything that needs the store is still undecided. */
export interface EventDraft {
  /** Lower-case UUID. */
  readonly id: string
  /** The publisher chose the id: it is the repeat key (D14), and stays taken, for 30 days, even if `unchanged` stores nothing. */
  readonly idGiven: boolean
  /** Lower-case UUID of the property or contact (D16). */
  readonly subjectId: string
  /** The same UUID in this draft's spelling. The subject's first event decides for all later ones (D15). */
  readonly subjectSpelling: string
  /** As sent; `undefined`: the subject in its first event's spelling (D15). */
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
  /** For internal loading only (D25): the time this event would like. It gets that time, or the last one's plus a tick. */
  readonly requestedCreated?: Ticks
}

/** An event that the service itself publishes. Its id is new, so that it repeats nothing. */
export function ownDraft(subjectId: string, id: string, content: DraftContent): EventDraft {
  const bare = { transactionId: undefined, eventTypeShortCode: undefined, category: undefined }
  return {
    ...bare,
    id,
    idGiven: false,
    subjectId,
    subjectSpelling: subjectId,
    content,
    contentHash: new Uint8Array(),
  }
}

export type DraftContent = PayloadContent | RemovalContent | ErasedContent | MovedContent

export interface PayloadContent {
  readonly kind: 'payload'
  /** The payload text, byte for byte as it will be served (D22). */
  readonly text: string
  /** SHA-256 of the text. 32 bytes. */
  readonly hash: Uint8Array
  /** The payload's own `published`; `undefined` if it is absent or null, which requires a named event type. */
  readonly published: boolean | undefined
  readonly branch: string | undefined
  /** What the payload's fields say about the category (D23). */
  readonly impliedCategory: Category | undefined
  /** What its price looks like, for a remark about a category that was derived (D23). */
  readonly priceLooksLike: Category | undefined
  /** A hash of the payload's `update_date` (`updateDateHashOf`); `null` if it has none. */
  readonly updateDateHash: Uint8Array | null
}

/** The subject's last payload with `published` false and `removal_reason` added (D26). */
export interface RemovalContent {
  readonly kind: 'removal'
  /** JSON text of the reason. */
  readonly reason: string | undefined
}

/** The event that closes a subject that is being erased (D17). Only the service itself makes it, and it is never a repeat. */
interface ErasedContent {
  readonly kind: 'erased'
}

/**
 * The property's last payload with another `branch_id`, if it is published and its branch is `from`; otherwise nothing changes, in a
 * batch with `unchanged: 'skip'`. Only the service itself makes it.
 */
interface MovedContent {
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
   * The publisher is limited to these branches (D11): everything it publishes, and every property it changes, must be in one of them.
   * Left out: any branch, or none.
   */
  readonly branches?: readonly string[] | undefined
}

/** One line of a receipt. A derived event comes before the event that caused it, with the same `index`. */
export interface AppendedEvent {
  /** The index of the draft. */
  readonly index: number
  readonly status: 'appended' | 'derived' | 'repeated' | 'unchanged'
  readonly id: string
  readonly eventType: number
  readonly eventTypeShortCode: string
  readonly transactionId: string
  /** Absent only in a preview, for events that would be stored. */
  readonly stored?: { readonly sequenceNumber: number; readonly createdDate: string }
  /** Remarks for the publisher that follow from the subject's earlier events; only for appended events. */
  readonly remarks?: readonly AppendRemark[]
}

/** Remarks that follow from the subject's earlier events. */
export type AppendRemark =
  /** The payload is a different one, or the property comes back, and `update_date` is unchanged. */
  | 'updateDateUnchanged'
  /** The transaction id sent is the subject's UUID, but not in its first event's spelling. */
  | 'otherSpelling'
  /** No category was sent, and the one derived is not the one the price looks like (D23). */
  | 'salesAgainstPrice'
  | 'lettingsAgainstPrice'
  /** The contact is restricted: the event is kept but not shown (D17). */
  | 'restricted'

export type AppendOutcome =
  /** Everything is on disk (P7), or was there before. */
  | { readonly kind: 'stored'; readonly events: readonly AppendedEvent[] }
  /** The id belongs to other content, or to an event whose content is gone (D14). */
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
   * The publisher is limited to branches, and the payload is in another one or in none; or the property is, by its latest event. This is
   * checked under the feed's lock, so that its branch cannot change in between.
   */
  | { readonly kind: 'branchNotGranted'; readonly index: number; readonly of: 'payload' | 'subject' }
  /** The feed's head is more than 5 minutes ahead of the clock (D25). */
  | { readonly kind: 'clockBehind'; readonly headCreated: Ticks; readonly now: Ticks }
  /** Nothing of the batch is stored here. */
  | FeedRefusal
