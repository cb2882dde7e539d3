/** Long reads in steps of limited bytes, between which others get their turn. */
import { freeBytes } from '../runtime/memory/free-bytes.ts'
import { yieldForStep } from '../runtime/yield-in-steps.ts'
import type { StoredEvent } from '../events/event-log.ts'

/** Reads the next events after a number, at most `limit`. */
export type ReadNext = (after: number, limit: number) => Promise<readonly StoredEvent[]>

/** A step has about this many bytes: some 2 ms of reading. The previous step shows how long events are. */
const stepBytes = 2 ** 20

/** At 4.5 kB per event this is half of that. More would be too many if short events are followed by the longest, of half a megabyte. */
const mostEvents = 100

/** Nothing is known about the first events: 8 of the longest are 4 MB. A reader that follows a feed finds fewer, and needs one step. */
const firstEvents = 8

/** The events after a number, step by step, each read on demand; none is empty. After the last step nothing was left when it was read. */
export async function* readInSteps(
  after: number,
  readNext: ReadNext,
): AsyncGenerator<readonly StoredEvent[], void> {
  let from = after
  let limit = firstEvents
  for (;;) {
    const found = await readNext(from, limit)
    // Before they are handed out, because the caller frees them after copying.
    const longest = found.reduce((most, { json }) => Math.max(most, json.byteLength), 1)
    if (found.length > 0) yield found
    if (found.length < limit) return
    from = found.at(-1)?.sequenceNumber ?? from
    limit = Math.max(1, Math.min(mostEvents, Math.floor(stepBytes / longest)))
    await yieldForStep()
  }
}

/** Freeing shorter ones costs more than leaving them to the garbage collector. */
const longBytes = 16_384

/** Frees long events that were read in steps and copied to where they are sent from. */
export function freeEvents(events: readonly StoredEvent[]): void {
  for (const { json } of events) if (json.byteLength >= longBytes) freeBytes(json)
}
