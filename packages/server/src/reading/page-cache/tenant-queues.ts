/**
 * Limits how many pages of each tenant are read from the store at a time. If the store is a database, all reads share its connections in
 * the order in which they come: 60 requests for cold pages of 6 MB kept everybody else waiting for five seconds, and some were refused.
 *
 * Where the store is a file, a read holds the event loop until it is done: 180 such requests that came together held it for two seconds. So
 * once reads have had their time in a turn of the event loop, the others take one turn each.
 */
import { performance } from 'node:perf_hooks'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'

interface TenantQueues {
  /** Reads at once, or when enough other reads of the tenant have ended. */
  run<T>(tenantId: string, read: () => Promise<T>): Promise<T>
}

/** The connections for reading that a node has. */
const connections = 8

interface Line {
  underWay: number
  readonly waiting: (() => void)[]
}

/** What reads may take of one turn of the event loop before others have theirs: many short pages, or one of some megabytes. */
const turnMs = 5

/** A tenant has at most three quarters of the connections. */
export function createTenantQueues(): TenantQueues {
  const mostAtOnce = Math.floor(0.75 * connections)
  const lines = new Map<string, Line>()

  const lineOf = (tenantId: string): Line => {
    const line = lines.get(tenantId) ?? { underWay: 0, waiting: [] }
    lines.set(tenantId, line)
    return line
  }
  const leave = (tenantId: string, line: Line): void => {
    const next = line.waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    line.underWay -= 1
    if (line.underWay === 0) lines.delete(tenantId)
  }

  /** When the first read of this turn of the event loop began. */
  let turnBeganMs: number | undefined
  const hasTime = (): boolean => {
    const nowMs = performance.now()
    if (turnBeganMs === undefined) {
      turnBeganMs = nowMs
      setImmediate(() => (turnBeganMs = undefined))
    }
    return nowMs - turnBeganMs <= turnMs
  }

  return {
    async run(tenantId, read) {
      const line = lineOf(tenantId)
      if (line.underWay < mostAtOnce) line.underWay += 1
      // A read that ends passes its place on.
      else await new Promise<void>((resolve) => line.waiting.push(resolve))
      try {
        if (!hasTime()) await yieldForStep()
        return await read()
      } finally {
        leave(tenantId, line)
      }
    },
  }
}
