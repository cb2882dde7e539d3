import { setTimeout as delay } from 'node:timers/promises'

/** How long a thread may take to show that it is awake, or to send its counts. */
const answerWithinMs = 2_000

/** The answer within the time limit; `undefined` from a thread that hangs or has ended. */
export function soon<T>(answer: Promise<T>, withinMs = answerWithinMs): Promise<T | undefined> {
  const patience = new AbortController()
  const late = delay(withinMs, undefined, { signal: patience.signal }).catch(() => undefined)
  return Promise.race([answer.catch(() => undefined), late]).finally(() => patience.abort())
}
