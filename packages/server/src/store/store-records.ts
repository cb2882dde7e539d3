/**
 * The contents of a store, record by record, for another store of any engine: ids, numbers, times and bytes stay as they are. Tenants and
 * keys have their own verbs.
 */
import type { Category, Ticks } from '@property-events/protocol'
import type { MoveState } from '../events/feed.ts'
import type { FeedKey } from '../events/feed-key.ts'
import type { ExpiringContact } from '../privacy/contact-expiry/contact-expiry.ts'
import type { Hold } from '../privacy/hold/hold.ts'
import type { Restriction, RestrictionProgress } from '../privacy/restriction/restriction.ts'
import type { SubjectState } from '../events/append/subject-state.ts'

export interface EventRecord {
  readonly kind: 'event'
  readonly key: FeedKey
  readonly position: number
  readonly sequenceNumber: number
  readonly created: Ticks
  readonly id: string
  readonly subjectId: string
  readonly category: Category | null
  readonly branch: string | null
  readonly code: string
  /** `full`, or the way the payload was reduced (D17). */
  readonly payloadState: string
  readonly json: string
}

/** An id that is taken, and the event it refers to (D14). */
export interface IdRecord {
  readonly kind: 'id'
  readonly key: FeedKey
  readonly id: string
  readonly position: number
  readonly contentHash: Uint8Array | null
  /** When it was skipped, if it has no event of its own; it is kept for 30 days from then on (decision 0003). */
  readonly skipped: Ticks | null
}

/** The latest event of a subject. */
export interface SubjectRecord {
  readonly kind: 'subject'
  readonly key: FeedKey
  readonly subjectId: string
  readonly position: number
  readonly state: SubjectState
}

/**
 * What a step of an erasure has reduced (D17). It comes after the events and before the counter: the events lose their payloads if they
 * still have them.
 */
export interface ReductionRecord {
  readonly kind: 'reduction'
  readonly key: FeedKey
  /** The feed's revision after that step. */
  readonly revision: number
  /** Ascending, at most `recordsPerPiece`: a step may be split into several records. */
  readonly events: readonly ReducedPlace[]
}

interface ReducedPlace {
  readonly position: number
  readonly sequenceNumber: number
  /** What was removed is kept, or is shown again: a `KeptRecord` has it. Left out: it is gone. */
  readonly isKept?: true
}

/** What was published of a restricted contact (`RestrictionStore`). It comes after the reductions. */
export interface KeptRecord {
  readonly kind: 'kept'
  readonly key: FeedKey
  readonly position: number
  readonly subjectId: string
  /** As it was published. */
  readonly json: string
  readonly contentHash: Uint8Array | null
  /** False: the restriction was lifted, and the event shows it again. */
  readonly isHidden: boolean
}

export interface RestrictionRecord extends Restriction, RestrictionProgress {
  readonly kind: 'restriction'
}

/** A hold on a property or contact of the feed (`HoldStore`) in its present form. It replaces one that is already there. */
export interface HoldRecord extends Hold {
  readonly kind: 'hold'
}

/**
 * A contact on the list of those that have not changed, or kept off it (`ExpiryStore`). It comes after the events. If the other store
 * knows a later event of the contact, that stays.
 */
export interface ExpiringRecord extends Omit<ExpiringContact, 'listedMs'> {
  readonly kind: 'expiring'
  readonly key: FeedKey
  /** `undefined`: the contact was kept. */
  readonly listedMs: number | undefined
}

/**
 * What a step of retention has reduced (D17). Like a `reduction` it comes after the events and before the counter: the events lose their
 * payloads if they still have them.
 */
export interface ThinningRecord {
  readonly kind: 'thinning'
  readonly key: FeedKey
  /** The feed's counter after that step. */
  readonly thinned: number
  /** Ascending, at most `recordsPerPiece`: a step may be split into several records. */
  readonly positions: readonly number[]
}

/** A feed's counter. It comes after the feed's events. */
export interface FeedRecord {
  readonly kind: 'feed'
  readonly key: FeedKey
  readonly epoch: string
  readonly offset: number
  readonly revision: number
  /** Left out: nothing was thinned. */
  readonly thinned?: number
  readonly lastPosition: number
  /** Publishing to this feed waits for `startEpoch`. Left out: it does not. */
  readonly needsEpoch?: boolean
  /** Left out: the state in the receiving store. */
  readonly move?: MoveState
  /** Windows of the feed may have been answered up to this time, so no later stamp is before it (P3). Left out: it is unknown. */
  readonly stampFloor?: Ticks
  /** Numbers up to this one belong to earlier epochs (D13). Left out: it is unknown. */
  readonly epochStart?: number
}

/** The whole store; this is the last record. */
export interface WholeRecord {
  readonly kind: 'whole'
  /** The offset of feeds that are created from now on: their numbers begin after it (D13). */
  readonly firstOffset: number
  /** Publishing waits for `startEpoch`. */
  readonly needsEpoch: boolean
  /** Windows may have been answered up to this time, so no later stamp is before it (P3). Left out: it is unknown. */
  readonly reservedUntil?: Ticks
}

export type StoreRecord =
  | EventRecord
  | IdRecord
  | SubjectRecord
  | ReductionRecord
  | KeptRecord
  | RestrictionRecord
  | HoldRecord
  | ExpiringRecord
  | ThinningRecord
  | FeedRecord
  | WholeRecord

/** From rows in the order of revisions and positions. */
export function reductionRecords(
  key: FeedKey,
  rows: readonly (ReducedPlace & { readonly revision: number; readonly state: string })[],
): readonly ReductionRecord[] {
  return [...Map.groupBy(rows, ({ revision }) => revision)].map(([revision, step]) => ({
    kind: 'reduction',
    key,
    revision,
    events: step.map(({ position, sequenceNumber, state }) => ({
      position,
      sequenceNumber,
      ...(state === 'erased' ? {} : { isKept: true as const }),
    })),
  }))
}

/** From rows in the order of steps and positions. */
export function thinningRecords(
  key: FeedKey,
  rows: readonly { readonly thinned: number; readonly position: number }[],
): readonly ThinningRecord[] {
  return [...Map.groupBy(rows, ({ thinned }) => thinned)].map(([thinned, step]) => {
    return { kind: 'thinning', key, thinned, positions: step.map(({ position }) => position) }
  })
}

/** Groups the parts of a tenant into pieces: in runs of one kind, each subject and id once. */
export function pieceOf(
  events: readonly EventRecord[],
  ids: readonly IdRecord[],
  subjects: readonly SubjectRecord[],
): readonly StoreRecord[] {
  const once = new Map(subjects.map((subject) => [subject.subjectId, subject]))
  return [...events, ...ids, ...once.values()]
}

/** Records that are handed over together. */
export const recordsPerPiece = 500

/** Why records cannot follow what a feed holds. */
export function positionFault(key: FeedKey, expected: number, given: number): Error {
  return new Error(`${key.tenantId} ${key.feed}: position ${expected} comes next, and ${given} was given`)
}
