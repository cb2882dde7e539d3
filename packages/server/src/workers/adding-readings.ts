/**
 * All threads add to the store what they have noted of consumers, before one of them answers who has seen what (PROTOCOL §14). The
 * pauses lie between the beginnings, so that a client that asks in a loop does not make all threads write all the time.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingThread } from './serving-thread.ts'
import { soon } from './soon.ts'

/** A thread that needs longer is left out of the answer. Both together are less than what the thread that asks waits for. */
const addWithinMs = 500
const pauseMs = 1_000

/** Those that ask before an addition has begun share it; it resolves when all threads have added, or had their time. */
export function addingOfAll(
  threads: readonly Pick<ServingThread, 'ask'>[],
  betweenMs = pauseMs,
): () => Promise<void> {
  let next: Promise<void> | undefined
  let notBeforeMs = 0
  const add = async (): Promise<void> => {
    await delay(Math.max(0, notBeforeMs - performance.now()), undefined, { ref: false })
    // Whatever is noted from here on may be too late for this one.
    next = undefined
    notBeforeMs = performance.now() + betweenMs
    await Promise.all(threads.map((thread) => soon(thread.ask({ verb: 'addReadings' }), addWithinMs)))
  }
  return () => (next ??= add())
}
