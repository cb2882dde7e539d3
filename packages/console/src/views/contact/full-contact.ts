/** A contact in full: revealed for a minute, or exported as one file. */
import type { RevealReason } from '@property-events/protocol/plain'
import { revealReasons } from '@property-events/protocol/plain'
import type { EventRun, FeedEvent } from '@property-events/protocol/wire'
import type { Failure, Outcome } from '../../service/failure.ts'

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

/** All events of a contact as one file, for a request for access. */
type Whole =
  | { readonly kind: 'events'; readonly events: readonly FeedEvent[] }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'stopped' }

/** Run after run until the newest. `read`: those after a number. */
export async function readWhole(read: (after: number) => Promise<Outcome<EventRun>>): Promise<Whole> {
  let events: readonly FeedEvent[] = []
  for (;;) {
    const outcome = await read(events.at(-1)?.sequenceNumber ?? 0)
    if (outcome.kind === 'failure') return outcome
    if (outcome.kind !== 'answer') return { kind: 'stopped' }
    const { items, next, head } = outcome.value
    events = [...events, ...items]
    if (items.length === 0 || next >= head) return { kind: 'events', events }
  }
}

/** What the file has: each event as the feed has it, with the payload as JSON. */
export function exportOf(tenantId: string, contactRef: string, events: readonly FeedEvent[], now: Date) {
  return {
    tenantId,
    contactRef,
    exportedAt: now.toISOString(),
    events: events.map((event) => ({ ...event, payload: payloadOf(event) })),
  }
}

function payloadOf({ payload }: FeedEvent): unknown {
  try {
    const value: unknown = JSON.parse(payload)
    return value
  } catch {
    return payload
  }
}
