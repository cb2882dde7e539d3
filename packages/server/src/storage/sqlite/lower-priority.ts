import { getPriority, setPriority } from 'node:os'

/**
 * A tenth of a serving thread's share where they want the same core, and no bound where they don't. With reads at full rate on
 * one core beside batches of 100, and the store in memory: 7,700 pages/s with a p99 of 8 to 12 ms; with 5 steps (a third of the
 * share) 4,100 and 18 ms. Publishing is what pays: 18 batches/s and not 36, a question by time (P3) waits up to 0.35 s behind
 * a commit, and not 0.15. Who waits for a page is somebody; who publishes is a program.
 */
const steps = 10

/**
 * Lets whoever reads go before this thread. On Linux a priority is a thread's own; elsewhere it is the process's, and stays.
 * Where a sandbox forbids it, all threads count the same.
 */
export function lowerOwnPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(19, getPriority() + steps))
  } catch {
    // Slower reads while somebody publishes; nothing else depends on it.
  }
}
