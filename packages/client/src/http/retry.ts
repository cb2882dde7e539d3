/** Repeats requests: which failures to retry, how long to wait, and the one retry loop. */
import { AbortedError, PropertyEventsError } from '../errors.ts'
import { ServiceError } from '../service-errors.ts'

export interface RetryOptions {
  /**
   * Attempts in all, the first one included. 8 by default: their delays add up to a minute at most, and to half of that
   * on average.
   */
  readonly attempts?: number | undefined
  /** Longest delay before the second attempt; it doubles for each further one. 500 ms by default. */
  readonly baseDelayMs?: number | undefined
  /** No delay is longer, unless the service asks for it with `Retry-After`. 30 s by default. */
  readonly maxDelayMs?: number | undefined
  /**
   * The longest `Retry-After` that a call waits for; a longer one ends the call. 5 minutes by default. A following sync waits for any
   * length, an hour at most.
   */
  readonly maxRetryAfterMs?: number | undefined
  /** Called before each wait, with the failure and the length of the wait. */
  readonly onWait?: ((error: PropertyEventsError, waitMs: number) => void) | undefined
}

/** The options with their defaults. */
export interface RetryLimits {
  readonly attempts: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly maxRetryAfterMs: number
  readonly onWait: ((error: PropertyEventsError, waitMs: number) => void) | undefined
}

/** An option that is given as undefined has its default, too. */
export function retryLimitsOf(options: RetryOptions = {}): RetryLimits {
  const { attempts = 8, baseDelayMs = 500, maxDelayMs = 30_000, maxRetryAfterMs = 300_000, onWait } = options
  return { attempts, baseDelayMs, maxDelayMs, maxRetryAfterMs, onWait }
}

/**
 * Milliseconds to wait before the attempt with this number (from 2), or `undefined` to give up. Full jitter: every
 * delay from nothing to the limit is equally likely, so that many clients do not come back together. `Retry-After` is
 * the least.
 */
function delayBefore(
  attempt: number,
  error: PropertyEventsError,
  limits: RetryLimits,
  random: () => number,
): number | undefined {
  if (attempt > Math.min(limits.attempts, error.attempts)) return undefined
  const jittered = random() * Math.min(limits.maxDelayMs, limits.baseDelayMs * 2 ** (attempt - 2))
  const requestedMs = error instanceof ServiceError ? error.retryAfterMs : undefined
  if (requestedMs === undefined) return jittered
  return requestedMs > limits.maxRetryAfterMs ? undefined : requestedMs + jittered
}

/** A client's patience, and its clock. */
interface Patient {
  readonly retry: RetryLimits
  readonly sleep: Sleep
  readonly random: () => number
  readonly now: () => number
}

/** The attempts of one call. */
interface Attempts {
  /** Waits for the next attempt after a failed one; throws the error if another attempt is pointless. */
  failed(error: unknown): Promise<void>
  /** Counts attempts from the first again, because there was progress. */
  renew(): void
}

/** The first attempt has begun. No wait lasts beyond `endsAt`, by the client's clock. */
export function beginAttempts(
  patient: Patient,
  signal: AbortSignal | undefined,
  endsAt = Infinity,
): Attempts {
  const { retry, random, now, sleep } = patient
  let attempt = 1
  return {
    async failed(error) {
      attempt += 1
      if (!(error instanceof PropertyEventsError) || error.again !== 'later') throw error
      const delayMs = delayBefore(attempt, error, retry, random)
      if (delayMs === undefined || now() + delayMs > endsAt) throw error
      retry.onWait?.(error, delayMs)
      await sleep(delayMs, signal)
    },
    renew() {
      attempt = 1
    },
  }
}

/** Waits; an abort ends the wait with `AbortedError`. */
export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>

/** A timer that is to wait longer fires at once. */
const longestTimerMs = 2 ** 31 - 1

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
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      },
      Math.min(ms, longestTimerMs),
    )
    signal?.addEventListener('abort', onAbort, { once: true })
  })
