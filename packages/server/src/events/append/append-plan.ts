/** What an append will do, as `planAppend` decides it, and what that reads. */
import type { FeedEvent, Ticks } from '@property-events/protocol'
import type { AppendBatch, AppendRemark, EventDraft } from './append-batch.ts'
import type { SubjectState } from './subject-state.ts'
import { payloadMember } from './subject-identity.ts'

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
  readonly requestedCreated: Ticks | undefined
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

/** Which subjects a draft may not change: those that do not exist, or are in a branch that its publisher was not granted (D11). */
type SubjectRefusal =
  | { readonly kind: 'unknownSubject'; readonly index: number; readonly subjectId: string }
  | { readonly kind: 'branchNotGranted'; readonly index: number; readonly of: 'payload' | 'subject' }

type Limited = Pick<AppendBatch, 'branches'>

/** `before`: the subject after its latest event; `undefined`: the feed has none. */
export function subjectRefusal(
  { branches, drafts }: AppendBatch,
  index: number,
  before: Pick<SubjectState, 'branch'> | undefined,
): SubjectRefusal | undefined {
  if (before !== undefined) {
    return isGranted({ branches }, before.branch)
      ? undefined
      : { kind: 'branchNotGranted', index, of: 'subject' }
  }
  const draft = drafts[index]
  if (draft === undefined || draft.content.kind === 'payload') return undefined
  return { kind: 'unknownSubject', index, subjectId: draft.subjectId }
}

/** Whether the payload itself names another branch, or none. Checked first: other contents of the feed are not for its publisher. */
export function isOfOtherBranch(batch: Limited, { content }: EventDraft): boolean {
  return content.kind === 'payload' && !isGranted(batch, content.branch ?? null)
}

/**
 * A repeat of a payload belongs to the branch that the payload names. The content of a removal does not say whose property it was, so the
 * stored event decides: no number of another branch is shown to somebody who has learnt its id.
 */
export function repeatsOtherBranch(
  batch: Limited,
  { content }: EventDraft,
  stored: () => FeedEvent,
): boolean {
  if (batch.branches === undefined || content.kind === 'payload') return false
  return !isGranted(batch, payloadMember(stored().payload, 'branch_id') ?? null)
}

function isGranted({ branches }: Limited, branch: string | null): boolean {
  return branches === undefined || (branch !== null && branches.includes(branch))
}
