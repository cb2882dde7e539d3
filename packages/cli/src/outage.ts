/** What a command does while the service is away: say so, and wait for it. */
import { setTimeout as delay } from 'node:timers/promises'
import { InvalidAnswerError, isPassing, isPassingStatus, needsOperator } from '@property-events/client'
import { reasonOf } from './service-client.ts'
import { plainText } from './terminal-text.ts'

/** After the attempts of a client, whose own waits sum to half a minute on average. */
const longestWaitMs = 30_000

export interface OutageOptions {
  readonly say: (line: string) => void
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/** A `fetch` that says when the service at `baseUrl` stops answering and when it answers again, once each. */
export function tellingFetch(baseUrl: string, { say, signal }: OutageOptions): typeof fetch {
  let away = false
  const isAway = (reason: string): void => {
    if (!away) say(`${baseUrl} ${reason}. Waiting for it.`)
    away = true
  }
  return async (input, init) => {
    try {
      const response = await fetch(input, init)
      if (isPassingStatus(response.status)) isAway(`answers with status ${response.status}`)
      else if (away) {
        away = false
        say(`${baseUrl} answers again.`)
      }
      return response
    } catch (error) {
      if (!signal.aborted) isAway(`does not answer (${reasonOf(error)})`)
      throw error
    }
  }
}

/** Runs the work again, after a wait, for as long as it fails because the service is away. */
export async function outlastOutages<Result>(
  work: () => Promise<Result>,
  { say, signal }: OutageOptions,
): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      // Whoever answers with something else is there, and perhaps not the service: no wait makes that right.
      const isAway =
        error instanceof Error &&
        (isPassing(error) || needsOperator(error)) &&
        !(error instanceof InvalidAnswerError)
      if (!isAway) throw error
      // By chance, so that many followers do not come back together.
      const waitMs = Math.random() * longestWaitMs
      say(`${plainText(error.message)} Asking again in ${Math.ceil(waitMs / 1000)} s.`)
      // When it is aborted the work is what ends, with what it has to say.
      await delay(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
