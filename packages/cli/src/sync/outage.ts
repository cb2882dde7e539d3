/** Waits for a service that is away, and says so. */
import { setTimeout as delay } from 'node:timers/promises'
import { InvalidAnswerError, PropertyEventsError, ServiceError } from '@property-events/client'
import type { ClientOptions, NetworkError } from '@property-events/client'
import { networkReason } from '../service-client.ts'
import type { ServiceAddress } from '../service-client.ts'
import { TablesAway } from '@property-events/tables/refusal'
import { plainText } from '../terminal-text.ts'

/** The wait after a client has used up its attempts. Its own waits add up to half a minute on average. */
const longestWaitMs = 30_000

/** Options of a client that says when the service stops answering and when it answers again, once each; `follow`: it waits for that. */
export function outageNotices(
  { baseUrl, retry }: Pick<ServiceAddress, 'baseUrl' | 'retry'>,
  say: (line: string) => void,
  follow: boolean,
): Required<Pick<ClientOptions, 'fetch' | 'retry'>> {
  let away = false
  const onWait = (error: PropertyEventsError): void => {
    if (away || !isUnreachable(error)) return
    away = true
    const reason =
      error instanceof ServiceError
        ? `answers with status ${error.status}`
        : `does not answer (${networkReason(error)})`
    say(`${baseUrl} ${reason}. Waiting for it.`)
  }
  return {
    retry: { ...(follow ? {} : retry), onWait },
    async fetch(input, init) {
      const response = await fetch(input, init)
      if (away && response.ok) {
        away = false
        say(`${baseUrl} answers again.`)
      }
      return response
    },
  }
}

interface OutageOptions {
  readonly say: (line: string) => void
  /** Aborts the wait. */
  readonly signal: AbortSignal
}

/** Repeats the work, after a wait, for as long as it fails because the service, or the database of the copy, is away. */
export async function retryDuringOutages<Result>(
  work: () => Promise<Result>,
  { say, signal }: OutageOptions,
): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isUnreachable(error) && !(error instanceof TablesAway)) throw error
      // A random share, so that many followers do not come back together.
      const waitMs = Math.random() * longestWaitMs
      say(`${plainText(error.message)} Trying again in ${Math.ceil(waitMs / 1000)} s.`)
      // After an abort the work itself ends, with its own message.
      await delay(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** An unexpected answer shows that a server is there, and perhaps not the service: waiting does not help. */
function isUnreachable(error: unknown): error is NetworkError | ServiceError {
  return (
    error instanceof PropertyEventsError && error.again !== 'never' && !(error instanceof InvalidAnswerError)
  )
}
