/** Waiting for what is to come, in place of a fixed time that is too short on one machine and too long on the next. */
import { setTimeout as delay } from 'node:timers/promises'

/** Resolves once `condition` holds, asked every 10 ms; rejects with `what` when it does not within `timeoutMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  {
    what = 'the condition',
    timeoutMs = 30_000,
  }: { readonly what?: string; readonly timeoutMs?: number } = {},
): Promise<void> {
  // A timer, because a test may have put its own clock in the machine's place.
  const late = AbortSignal.timeout(timeoutMs)
  while (!(await condition())) {
    if (late.aborted) throw new Error(`${what} did not come within ${timeoutMs} ms`)
    await delay(10)
  }
}
