/** What an append will do, as `planAppend` decides it, and what that reads. */
import type { FeedEvent, Ticks } from '@property-events/protocol'
import type { SubjectRefusal } from '../branches/plan-branches.ts'
import type { AppendRemark } from './append-batch.ts'
import type { SubjectState } from './subject-state.ts'

/** What the planner reads, all of it under the feed's lock. */
export interface AppendLookups {
  /** What an id resolves to: an event's position, and the content hash it came with (`null`: not to be repeated). */
  idTaken(id: string): { readonly position: number; readonly contentHash: Uint8Array | null } | undefined
  subject(subjectId: string): (SubjectState & { readonly position: number }) | undefined
  event(position: number): FeedEvent
}

/** An event that will be appended: everything except its number and time. */
export interface PlannedEvent {
  readonly id: string
  readonly subjectId: string
  readonly transactionId: string
  readonly eventType: number
  readonly state: SubjectState
  readonly payload: string
  /** `erased`: the event never has a payload (D17). `restricted`: its payload is in `kept`, and not shown. */
  readonly payloadState: 'full' | 'erased' | 'restricted'
  /** The payload that is put aside; the one in `payload` is shown. */
  readonly kept?: string
  readonly contentHash: Uint8Array | null
  readonly wishedCreated: Ticks | undefined
  readonly remarks: readonly AppendRemark[]
}

/** One line of the future receipt. `existing` names a stored event; `pending` an earlier one in this plan. */
export type PlanStep =
  | {
      readonly kind: 'append'
      readonly index: number
      readonly derived: boolean
      readonly event: PlannedEvent
    }
  | { readonly kind: 'repeated'; readonly index: number; readonly position: number }
  | {
      readonly kind: 'unchanged'
      readonly index: number
      readonly of: number | PlannedEvent
      /** An id that stays taken, so that sending it again later has no effect. */
      readonly reserve: { readonly id: string; readonly contentHash: Uint8Array } | undefined
    }

export type AppendPlan =
  | { readonly kind: 'plan'; readonly steps: readonly PlanStep[] }
  | { readonly kind: 'idConflict'; readonly index: number; readonly id: string; readonly isGone?: true }
  | SubjectRefusal
