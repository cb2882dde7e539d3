/** Trying again: which failures are worth it, and how long to wait before. */
import { AbortedError, DeadlineError, InvalidAnswerError, NetworkError } from './errors.ts'
import { ServiceError } from './service-errors.ts'

export interface RetryOptions {
  /** Attempts in all, the first one included. 8 by default: their delays sum to a minute at most, half of that on average. */
  readonly attempts?: number | undefined
  /** Longest delay before the second attempt; it doubles with each further one. 500 ms by default. */
  readonly baseDelayMs?: number | undefined
  /** No delay is longer, unless the service asks for it with `Retry-After`. 30 s by default. */
  readonly maxDelayMs?: number | undefined
  /**
   * The longest `Retry-After` that a call waits for; a longer one ends it. 5 minutes by default. A following sync then
   * waits as long as it was asked to, an hour at most.
   */
  readonly maxRetryAfterMs?: number | undefined
}

export type RetryLimits = { readonly [Name in keyof RetryOptions]-?: number }

/** The options with their defaults; one that is given as undefined has its default, too. */
export function retryLimitsOf(options: RetryOptions = {}): RetryLimits {
  const { attempts = 8, baseDelayMs = 500, maxDelayMs = 30_000, maxRetryAfterMs = 300_000 } = options
  return { attempts, baseDelayMs, maxDelayMs, maxRetryAfterMs }
}

const passingStatuses = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether an answer with this status may well be another one a little later. */
export function isPassingStatus(status: number): boolean {
  return passingStatuses.has(status)
}

/** Whether the same request may well succeed later. Everything this package sends can be repeated without harm. */
export function isPassing(error: unknown): boolean {
  // `conflict` is a 409 that has lost its body on the way: only the code in it says what to do.
  if (error instanceof ServiceError) return isPassingStatus(error.status) || error.code === 'conflict'
  return (
    error instanceof NetworkError || error instanceof InvalidAnswerError || error instanceof DeadlineError
  )
}

/**
 * Milliseconds to wait before the attempt with this number (from 2), or `undefined` to give up. Full jitter: anything
 * from nothing to the limit is as likely, so that many clients do not come back together. `Retry-After` is a floor.
 */
export function delayBefore(
  attempt: number,
  error: unknown,
  limits: RetryLimits,
  random: () => number,
): number | undefined {
  if (attempt > limits.attempts || !isPassing(error)) return undefined
  const jittered = random() * Math.min(limits.maxDelayMs, limits.baseDelayMs * 2 ** (attempt - 2))
  const asked = error instanceof ServiceError ? error.retryAfterMs : undefined
  if (asked === undefined) return jittered
  return asked > limits.maxRetryAfterMs ? undefined : asked + jittered
}

/** Waits; an abort ends the wait with `AbortedError`. */
export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>

export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(new AbortedError({ cause: signal.reason }))
      return
    }
    const onAbort = () => {
      clearTimeout(timer)
      reject(new AbortedError({ cause: signal?.reason }))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
