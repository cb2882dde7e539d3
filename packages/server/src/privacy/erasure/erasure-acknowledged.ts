/** Which consumers report that they have applied the event that closed an erased subject (D17, D28). */
import type { EventStore } from '../../events/event-log.ts'
import type { ConsumerStore } from '../../consumers/consumer.ts'
import type { Erasure } from './erasure.ts'

export interface AcknowledgedConsumer {
  /** As the consumer gave it; `default`: the key itself. */
  readonly name: string
  /** When it last acknowledged, if that includes the closing event. `undefined`: not so far, or nothing was closed. */
  readonly acknowledgedMs: number | undefined
}

/**
 * By key, then name: every consumer of the feed that was ever sent anything or has acknowledged. Only an acknowledgement in the feed's
 * epoch counts: a number of an earlier one may have belonged to another event. A node's notes show within 35 s.
 */
export async function acknowledgedBy(
  { consumers, events }: { readonly consumers: ConsumerStore; readonly events: EventStore },
  { key, closing }: Erasure,
): Promise<ReadonlyMap<string, readonly AcknowledgedConsumer[]>> {
  const head = await events.head(key)
  const names = new Map<string, Map<string, number | undefined>>()
  const note = (keyId: string, name: string, ms: number | undefined): void => {
    const ofKey = names.get(keyId) ?? new Map<string, number | undefined>()
    names.set(keyId, ofKey.set(name, ms))
  }
  for (const { keyId, name } of await consumers.readings(key)) note(keyId, name, undefined)
  for (const { keyId, name, sequenceNumber, epoch, acknowledgedMs } of await consumers.acknowledgements(
    key,
  )) {
    const isDone = closing !== undefined && epoch === head?.epoch && sequenceNumber >= closing.sequenceNumber
    note(keyId, name, isDone ? acknowledgedMs : undefined)
  }
  return new Map(Array.from(names, ([keyId, ofKey]) => [keyId, inOrder(ofKey)] as const))
}

function inOrder(ofKey: ReadonlyMap<string, number | undefined>): readonly AcknowledgedConsumer[] {
  return Array.from(ofKey, ([name, acknowledgedMs]) => ({ name, acknowledgedMs })).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  )
}

/** The time of the last of them. `undefined`: one has not acknowledged, or there is none. */
export function allAcknowledgedMs(consumers: readonly AcknowledgedConsumer[]): number | undefined {
  const times = consumers.map(({ acknowledgedMs }) => acknowledgedMs ?? Infinity)
  const lastMs = Math.max(...times)
  return Number.isFinite(lastMs) ? lastMs : undefined
}
