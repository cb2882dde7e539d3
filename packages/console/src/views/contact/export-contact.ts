/** All events of a contact as one file, for a request for access. */
import type { EventRun, FeedEvent } from '@property-events/protocol/wire'
import type { Failure, Outcome } from '../../service/failure.ts'

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
