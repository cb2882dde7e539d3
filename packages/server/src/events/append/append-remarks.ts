/** Remarks for the publisher that follow from what the store knows about the subject. */
import { keepsUpdateDate } from './subject-identity.ts'
import type { SubjectState } from './subject-state.ts'
import type { AppendRemark, EventDraft } from './append-batch.ts'

/** `transactionId` and `state` are those of the event; `before` is the subject's state before it. */
export function remarksOf(
  draft: EventDraft,
  { transactionId, spelling, state }: Described,
  before: SubjectState | undefined,
): readonly AppendRemark[] {
  const remarks: AppendRemark[] = []
  const against = againstPrice(draft, state)
  if (against !== undefined) remarks.push(against)
  if (transactionId !== spelling && transactionId.toLowerCase() === draft.subjectId) {
    remarks.push('otherSpelling')
  }
  if (before !== undefined && keepsUpdateDate(before, state)) remarks.push('updateDateUnchanged')
  return remarks
}

interface Described {
  readonly transactionId: string
  /** The subject as its first event spells it. */
  readonly spelling: string
  readonly state: SubjectState
}

/** A derived category decides who is shown the property, so the publisher hears of one that is probably wrong (D23). */
function againstPrice({ category, content }: EventDraft, state: SubjectState): AppendRemark | undefined {
  if (category !== undefined || content.kind !== 'payload' || content.priceLooksLike === undefined)
    return undefined
  if (state.category === content.priceLooksLike) return undefined
  return state.category === 'sales' ? 'salesAgainstPrice' : 'lettingsAgainstPrice'
}
