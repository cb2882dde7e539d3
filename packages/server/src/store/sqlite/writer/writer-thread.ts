/** The thread that writes, so that a flush never holds up the event loop (P7). It ends once it is asked to close. */
import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { getPriority, setPriority } from 'node:os'
import { tendThreadMemory } from '../../../runtime/memory/thread-memory.ts'
import { openForWriting } from './writer.ts'

/**
 * A tenth of a serving thread's share if they want the same core, and no limit if they do not. With reads at full rate on one core beside
 * batches of 100, and all of the store in the page cache: 7,700 pages/s with a p99 of 8 to 12 ms; with 5 steps (a third of the share) 4,100 and 18 ms.
 * Publishing pays for it: 18 batches/s instead of 36, and a read by time (P3) waits up to 0.35 s for a commit instead of 0.15. A person
 * may be waiting for a page; programs publish.
 */
const steps = 10

/**
 * Gives readers priority over this thread. On Linux a priority belongs to a thread; elsewhere it belongs to the process, and stays. If a
 * sandbox forbids it, all threads have the same priority.
 */
function lowerOwnPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(19, getPriority() + steps))
  } catch {
    // Reads are slower during publications; nothing else depends on it.
  }
}

if (parentPort === null) throw new Error('writer.ts runs in a worker thread')
const owner = parentPort
lowerOwnPriority()
tendThreadMemory()
const writer = openForWriting(workerData, () => owner.close())
owner.on('message', (port: MessagePort) => writer.answer(port))
