/**
 * Shares the connections for reading fairly. Without it they went to reads in the order in which these came: 180 runs of a megabyte each
 * under way for two tenants, and a poll of a third one was answered 503 after five seconds. Here each tenant has a line, and a connection
 * that becomes free goes to the next line in turn. A read thus waits for one read of each tenant that waits too, however many reads they
 * have.
 */
import { StorageFailure } from '../storage-errors.ts'

interface ReadLines {
  /**
   * Runs a read at once, or when its line has its turn. Rejects with a `StorageFailure` if that takes longer than the patience:
   * `reads_waiting` if other reads have ended meanwhile, `storage_unavailable` if none has.
   */
  run<T>(line: string, read: () => Promise<T>): Promise<T>
  /** Reads that wait for their turn. */
  waiting(): number
}

/** How long a connection may take, or waiting for a free one, by default. */
export const defaultConnectTimeoutMs = 5_000

interface Waiting {
  readonly begin: () => void
}

/** `atOnce`: how many reads run at the same time. */
export function createReadLines(atOnce: number, patienceMs: number): ReadLines {
  /** Lines in which a read waits; the first one is next. */
  const lines = new Map<string, Set<Waiting>>()
  let underWay = 0
  let waiting = 0
  let ended = 0

  const leave = (name: string, line: Set<Waiting>, read: Waiting): void => {
    line.delete(read)
    waiting -= 1
    if (line.size === 0) lines.delete(name)
  }

  const turn = (name: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const line = lines.get(name) ?? new Set()
      const endedBefore = ended
      const timer = setTimeout(() => {
        leave(name, line, read)
        reject(failureOfWait(ended > endedBefore, patienceMs))
      }, patienceMs)
      const read: Waiting = {
        begin() {
          clearTimeout(timer)
          leave(name, line, read)
          resolve()
        },
      }
      line.add(read)
      lines.set(name, line)
      waiting += 1
    })

  /** The next read takes over the place of the one that has ended. */
  const passOn = (): void => {
    const [next] = lines
    if (next === undefined) {
      underWay -= 1
      return
    }
    const [name, line] = next
    const [read] = line
    // What is left of the line comes after all others.
    lines.delete(name)
    if (line.size > 1) lines.set(name, line)
    read?.begin()
  }

  return {
    async run(name, read) {
      if (underWay < atOnce) underWay += 1
      else await turn(name)
      try {
        const answer = await read()
        ended += 1
        return answer
      } finally {
        passOn()
      }
    },
    waiting: () => waiting,
  }
}

function failureOfWait(isBusy: boolean, patienceMs: number): StorageFailure {
  const cause = new Error(`no connection for reading became free within ${patienceMs} ms`)
  return new StorageFailure(isBusy ? 'reads_waiting' : 'storage_unavailable', cause)
}
