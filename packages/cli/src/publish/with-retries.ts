import { setTimeout as sleep } from 'node:timers/promises'
import { isPassingStatus } from '@property-events/client'
import { memberText } from '../members.ts'
import { NoAnswer, problemSentence } from '../service-client.ts'
import type { ServiceAnswer } from '../service-client.ts'

/** Waits of half a second, doubling to half a minute: ten tries bridge a restart or a failover of 1 to 2 minutes. */
const attempts = 10
const firstWaitMs = 500
const longestWaitMs = 30_000
/** A service that asks for more patience than this needs its operator first. */
const longestRetryAfterMs = 120_000
/** Waiting does not help: an operator has to do something. */
const hopeless = new Set(['epoch_required', 'clock_behind'])

export interface RetryOptions {
  /** Told before each wait. */
  readonly onWait: (sentence: string, waitMs: number) => void
  /** Waits; an argument for tests. */
  readonly wait?: (waitMs: number) => Promise<void>
}

/**
 * Asks again while the service does not answer, or answers with a status that may pass. Every event carries an id, so
 * one that was stored although the answer got lost is recognised as a repeat (P6).
 */
export async function withRetries(
  ask: () => Promise<ServiceAnswer>,
  { onWait, wait = (waitMs) => sleep(waitMs) }: RetryOptions,
): Promise<ServiceAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    let sentence: string
    let wantedMs = 0
    try {
      const answer = await ask()
      wantedMs = answer.retryAfterMs ?? 0
      const isHopeless = hopeless.has(memberText(answer.body, 'code') ?? '') || wantedMs > longestRetryAfterMs
      if (!isPassingStatus(answer.status) || isHopeless || attempt >= attempts) return answer
      sentence = problemSentence(answer)
    } catch (error) {
      if (!(error instanceof NoAnswer) || attempt >= attempts) throw error
      sentence = error.message
    }
    const backOffMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1))
    // Half of it by chance, so that many publishers do not come back in step.
    const waitMs = Math.round(Math.max(wantedMs, backOffMs * (0.5 + Math.random() / 2)))
    onWait(sentence, waitMs)
    await wait(waitMs)
  }
}
