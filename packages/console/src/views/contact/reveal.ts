/** Reveals a contact for a minute. */
import type { RevealReason } from '@property-events/protocol/plain'
import { revealReasons } from '@property-events/protocol/plain'

export const revealMs = 60_000

/** The explanation of each reason, in the order in which they are offered. */
const reasonWords: Readonly<Record<RevealReason, string>> = {
  support: 'Support request about this contact',
  subject_request: 'Data subject request',
  correction: 'Correction of the data',
  complaint: 'Complaint',
  legal_obligation: 'Legal obligation',
  security_incident: 'Security incident',
}

export const reasonChoices: readonly { readonly reason: RevealReason; readonly says: string }[] = Object.keys(
  reasonWords,
).flatMap((name) => {
  const reason = revealReasons.find((known) => known === name)
  return reason === undefined ? [] : [{ reason, says: reasonWords[reason] }]
})

export interface Revealed {
  readonly contact: unknown
  /** Milliseconds since 1970. */
  readonly untilMs: number
}

/** Whole seconds left; `undefined`: the time is over, and nothing may be shown. Setting the clock back does not lengthen it. */
export function secondsLeft({ untilMs }: Revealed, nowMs: number): number | undefined {
  const left = Math.ceil((untilMs - nowMs) / 1_000)
  return left > 0 && left <= revealMs / 1_000 ? left : undefined
}
