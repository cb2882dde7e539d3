/** Long reads in steps of limited bytes, between which others have their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoredEvent } from '../storage/storage.ts'

/** Reads the next events after a number, at most `limit`. */
export type ReadNext = (after: number, limit: number) => Promise<readonly StoredEvent[]>

/** A step has about so many bytes: some 2 ms of reading. How long events are, the step before tells. */
const stepBytes = 2 ** 20

/** At 4.5 kB an event half of that. More would be too many where short events are followed by the longest, of half a megabyte. */
const mostEvents = 100

/**
 * The events after a number, step by step, each read when it is asked for; none is empty. After the last step nothing was left when
 * it was read.
 */
export async function* readInSteps(
  after: number,
  readNext: ReadNext,
): AsyncGenerator<readonly StoredEvent[], void> {
  let from = after
  let limit = mostEvents
  for (;;) {
    const found = await readNext(from, limit)
    if (found.length > 0) yield found
    if (found.length < limit) return
    from = found.at(-1)?.sequenceNumber ?? from
    const longest = found.reduce((most, { json }) => Math.max(most, json.byteLength), 1)
    limit = Math.max(1, Math.min(mostEvents, Math.floor(stepBytes / longest)))
    await nextTurn()
  }
}
