/** How long a process works while somebody waits for it: unlike the wait itself, it does not grow with what else the machine does. */
import { readFileSync } from 'node:fs'

/** Milliseconds of processor time of a process's first thread so far; 0 where the system does not say. */
export function workedMs(pid: number): number {
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return 0
  }
}
