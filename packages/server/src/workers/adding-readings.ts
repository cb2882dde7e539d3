/**
 * All threads add their notes about consumers to the store before one of them answers who has seen what (PROTOCOL §14). Pauses are
 * counted from beginning to beginning, so that a client that asks in a loop does not keep all threads writing.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingThread } from './serving-thread.ts'
import { soon } from './soon.ts'

/** An answer leaves out a thread that needs longer. Both times together are shorter than the wait of the thread that asks. */
const addWithinMs = 500
const pauseMs = 1_000

/** Callers that ask before an addition begins share it. It resolves when all threads have added their notes, or their time is up. */
export function addingOfAll(
  threads: readonly Pick<ServingThread, 'ask'>[],
  betweenMs = pauseMs,
): () => Promise<void> {
  let next: Promise<void> | undefined
  let notBeforeMs = 0
  const add = async (): Promise<void> => {
    await delay(Math.max(0, notBeforeMs - performance.now()), undefined, { ref: false })
    // A note made after this point may be too late for this addition.
    next = undefined
    notBeforeMs = performance.now() + betweenMs
    await Promise.all(threads.map((thread) => soon(thread.ask({ verb: 'addReadings' }), addWithinMs)))
  }
  return () => (next ??= add())
}
