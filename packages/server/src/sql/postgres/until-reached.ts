/** Waits for a database that is away: it is starting, restarting, or is a standby that is being promoted. */
import { setTimeout as delay } from 'node:timers/promises'
import { StorageFailure } from '../storage-errors.ts'
import { isConnectionLoss } from './connection.ts'
import { standbyText } from './pool.ts'

interface Patience {
  /** From the first try on. */
  readonly waitMs: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined
  /** Called once, with a sentence for the log, when the wait begins. */
  readonly onWaiting?: ((reason: string) => void) | undefined
}

const longestPauseMs = 2_000

/** The final result of `open`: it is retried while the database is away, until the time is over. */
export async function untilReached<T>(open: () => Promise<T>, patience: Patience): Promise<T> {
  const { waitMs, signal, onWaiting } = patience
  const untilMs = performance.now() + waitMs
  for (let tries = 1; ; tries += 1) {
    try {
      return await open()
    } catch (error) {
      const leftMs = untilMs - performance.now()
      if (!isAway(error) || leftMs <= 0 || signal?.aborted === true) throw error
      if (tries === 1)
        onWaiting?.(`${awayText(error)}: waiting for it, up to ${Math.round(waitMs / 1_000)} s.`)
      const pauseMs = Math.min(leftMs, longestPauseMs, 100 * 2 ** tries)
      await delay(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
    }
  }
}

/** A name that is not known yet, as while containers start, and a server that has no connection left. */
const passingCodes = /^(ENOTFOUND|EAI_AGAIN|53300)$/

/** Whether waiting may help: it does not against a wrong password, or for a database that does not exist. */
function isAway(error: unknown): boolean {
  if (!(error instanceof StorageFailure) || !(error.cause instanceof Error)) return false
  const { cause } = error
  const code = 'code' in cause ? String(cause.code) : ''
  return isConnectionLoss(cause) || passingCodes.test(code) || cause.message === standbyText
}

function awayText(error: unknown): string {
  const cause = error instanceof StorageFailure && error.cause instanceof Error ? error.cause : undefined
  // If several addresses were tried, each error says what is wrong with it, and the whole says nothing.
  const [first] = cause instanceof AggregateError ? cause.errors : [cause]
  const reason = first instanceof Error ? first.message : String(first)
  return `The database cannot be used (${reason})`
}
