/** Whom a draft may not change: a subject that is not there, or of a branch that its publisher was not granted (D11). */
import type { FeedEvent } from '@property-events/protocol'
import { payloadMember } from './subject-identity.ts'
import type { AppendBatch, EventDraft } from './storage.ts'
import type { SubjectState } from './subject-state.ts'

export type SubjectRefusal =
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

/** The payload itself says that it is of another branch, or of none. Asked first: what else the feed holds is not for its publisher. */
export function isOfOtherBranch(batch: Limited, { content }: EventDraft): boolean {
  return content.kind === 'payload' && !isGranted(batch, content.branch ?? null)
}

/**
 * A repeat of a payload is of the branch that the payload names. The content of a removal does not say whose property it was, so the
 * event that it was stored as does: it shows no number of another branch to whoever has learnt its id.
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
