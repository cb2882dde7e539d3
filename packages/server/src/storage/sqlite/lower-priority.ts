import { getPriority, setPriority } from 'node:os'

/**
 * A tenth of a serving thread's share where they want the same core, and no bound where they don't. With reads at full rate on
 * one core beside batches of 100, and the store in memory: 7,700 pages/s with a p99 of 8 to 12 ms; with 5 steps (a third of the
 * share) 4,100 and 18 ms. Publishing pays for it: 18 batches/s and not 36, and a read by time (P3) waits up to 0.35 s for a
 * commit, and not 0.15. A person may wait for a page; publishing is done by programs.
 */
const steps = 10

/**
 * Lets readers go before this thread. On Linux a priority is a thread's own; elsewhere it is the process's, and stays.
 * Where a sandbox forbids it, all threads count the same.
 */
export function lowerOwnPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(19, getPriority() + steps))
  } catch {
    // Reads are slower during publications; nothing else depends on it.
  }
}
