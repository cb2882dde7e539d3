/** The resident memory of another process, as the system counts it. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

export interface MemoryWatch extends Disposable {
  /** Bytes now. */
  now(): Promise<number>
  /** The most bytes since it was last asked, or since the beginning. */
  peak(): Promise<number>
}

const sampleMs = 50

/** A service collects its garbage after 15 to 20 s of rest (runtime/memory/thread-memory.ts), and gives back what was freed up to 5 s later. */
const untilCollectedMs = 26_000
const lookMs = 1_000
/** This many looks in a row, of which the largest is no more than 2 % above the smallest. */
const looksAtRest = 3
const restFactor = 1.02

export interface Rest {
  readonly bytes: number
  readonly afterMs: number
}

/**
 * Waits until memory has come to rest, for `patienceMs` at most; with a patience of 0 it is what it is now. `enoughBytes`: it rests only once it
 * is no more than this, because a service that is still at work after a burst collects its garbage later.
 */
export async function memoryAtRest(
  memory: Pick<MemoryWatch, 'now'>,
  patienceMs: number,
  enoughBytes = Number.POSITIVE_INFINITY,
): Promise<Rest> {
  const startMs = performance.now()
  const looks: number[] = []
  for (;;) {
    const bytes = await memory.now()
    const afterMs = performance.now() - startMs
    looks.push(bytes)
    const last = looks.slice(-looksAtRest)
    const isSteady = last.length === looksAtRest && Math.max(...last) <= restFactor * Math.min(...last)
    const rests = isSteady && bytes <= enoughBytes
    if ((rests && afterMs >= untilCollectedMs) || afterMs >= patienceMs) return { bytes, afterMs }
    await delay(lookMs)
  }
}

/** On Linux the system itself keeps the peak; elsewhere it is looked for every 50 ms. */
export function watchMemory(pid: number): MemoryWatch {
  let most = 0
  const sample = async (): Promise<void> => {
    const bytes = await residentBytes(pid).catch(() => 0)
    most = Math.max(most, bytes)
  }
  const timer = process.platform === 'linux' ? undefined : setInterval(() => void sample(), sampleMs)
  return {
    now: () => residentBytes(pid),
    async peak() {
      if (process.platform === 'linux') {
        most = await statusBytes(pid, 'VmHWM')
        // Sets the peak to what is resident now (proc(5)).
        await writeFile(`/proc/${pid}/clear_refs`, '5')
      } else await sample()
      const peak = most
      most = 0
      return peak
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

async function residentBytes(pid: number): Promise<number> {
  if (process.platform === 'linux') return statusBytes(pid, 'VmRSS')
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
  return 1_024 * Number(stdout)
}

async function statusBytes(pid: number, name: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status) ?? []
  if (kibibytes === undefined) throw new Error(`the system does not say ${name} of process ${pid}`)
  return 1_024 * Number(kibibytes)
}
