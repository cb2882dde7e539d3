/** Which subjects a draft may not change: those that do not exist, or are in a branch that its publisher was not granted (D11). */
import type { FeedEvent } from '@property-events/protocol'
import { payloadMember } from '../append/subject-identity.ts'
import type { AppendBatch, EventDraft } from '../append/append-batch.ts'
import type { SubjectState } from '../append/subject-state.ts'

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
