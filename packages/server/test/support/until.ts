/** Waiting for what is to come, in place of a fixed time that is too short on one machine and too long on the next. */
import { setTimeout as delay } from 'node:timers/promises'

interface Patience {
  /** For the sentence of a test that has waited for nothing. */
  readonly what?: string
  /** Long, because a machine may be busy: only a test that fails waits for so long. */
  readonly timeoutMs?: number
}

/** Resolves once `condition` holds, asked again every 10 ms; rejects with `what` when it does not within `timeoutMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what = 'the condition', timeoutMs = 30_000, everyMs = 10 }: Patience & { readonly everyMs?: number } = {},
): Promise<void> {
  // A timer, because a test may have put its own clock in the machine's place.
  const late = AbortSignal.timeout(timeoutMs)
  while (!(await condition())) {
    if (late.aborted) throw new Error(`${what} did not come within ${timeoutMs} ms`)
    await delay(everyMs)
  }
}

/** What `promise` comes to; rejects with `what` when that is nothing within `timeoutMs`. */
export async function within<T>(
  promise: Promise<T>,
  { what = 'the answer', timeoutMs = 30_000 }: Patience = {},
): Promise<T> {
  const over = new AbortController()
  const late = delay(timeoutMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`${what} did not come within ${timeoutMs} ms`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    over.abort()
  }
}
