/** Follows a feed in the best way that works: a stream, otherwise waiting requests, otherwise pauses between requests. */
import type { Connection } from '../connection.ts'
import { InvalidAnswerError, NetworkError } from '../errors.ts'
import { beginAttempts } from '../retry.ts'
import { ServiceError } from '../service-errors.ts'
import type { EventRun } from '../wire.ts'
import { isUnknownParameter, pause, pollRuns, waitRuns } from './asked-runs.ts'
import { isOfTypes } from './live-place.ts'
import type { LivePlace, LiveQuery } from './live-place.ts'
import { streamRuns } from './stream-runs.ts'
import type { Transport } from './ways.ts'

export interface LiveOptions extends LiveQuery {
  /** `auto`: the best way that works. Any other value is used even if it does not work. */
  readonly transport: Transport | 'auto'
  readonly signal: AbortSignal | undefined
}

/** Used if a service with too many waiting requests does not say how long to wait. */
const usualCrowdMs = 5_000

/**
 * The events after `place` as they come, for ever: in order, each once, in runs that say how far the reader is. It reconnects by itself.
 * Throws what no attempt can solve: an invalid place, a key that may not read, a service that stays away for all attempts of the client.
 */
export async function* liveRuns(
  connection: Connection,
  place: LivePlace,
  options: LiveOptions,
): AsyncGenerator<EventRun, void, undefined> {
  const { ways, retry, sleep, random } = connection
  const { transport, signal } = options
  const attempts = beginAttempts(connection, signal)
  let isCrowded = false
  for (;;) {
    const way = isCrowded ? 'polls' : transport === 'auto' ? ways.best : transport
    // One request if there is no room to wait; otherwise this way is used until there is a better one.
    const isOver = (): boolean => isCrowded || (transport === 'auto' && ways.best !== way)
    const answersBefore = place.answers
    try {
      for await (const run of runsBy(way, connection, place, options, isOver)) yield ofTypes(run, options)
      isCrowded = false
      attempts.renew()
    } catch (error) {
      isCrowded = false
      if (learnsFrom(error, way, connection, options)) continue
      // An unusable answer may come again and again: what came before it is not progress.
      if (place.answers > answersBefore && !(error instanceof InvalidAnswerError)) attempts.renew()
      if (isTooCrowded(error) && transport === 'auto') {
        isCrowded = true
        const waitMs = (error.retryAfterMs ?? usualCrowdMs) * (1 + random() / 2)
        retry.onWait?.(error, waitMs)
        await sleep(waitMs, signal)
      } else await attempts.failed(error)
    }
  }
}

async function* runsBy(
  way: Transport,
  connection: Connection,
  place: LivePlace,
  options: LiveOptions,
  isOver: () => boolean,
): AsyncGenerator<EventRun, void, undefined> {
  const { signal } = options
  if (way === 'polls') yield* pollRuns(connection, place, options, isOver, signal)
  else if (way === 'wait') yield* waitRuns(connection, place, options, isOver, signal)
  else {
    const end = yield* streamRuns(connection, place, options, signal)
    if (end.kind === 'ended') await pause(connection, end.retryMs, signal)
    else if (options.transport === 'stream') throw new InvalidAnswerError(end.reason)
    else connection.ways.giveUp('stream')
  }
}

/** Whether the error shows that a way does not work here, so that another one is used from now on. */
function learnsFrom(
  error: unknown,
  way: Transport,
  { ways }: Connection,
  { transport }: LiveOptions,
): boolean {
  if (ways.has('types') && isUnknownParameter(error, 'types')) {
    ways.giveUp('types')
    return true
  }
  if (way !== 'wait') return false
  if (transport === 'auto' && isUnknownParameter(error, 'wait')) {
    ways.giveUp('wait')
    return true
  }
  const isCutShort = error instanceof ServiceError ? error.code === 'gateway_timeout' : isSilence(error)
  if (isCutShort) ways.shortenWait()
  return false
}

function isSilence(error: unknown): boolean {
  return error instanceof NetworkError && error.code === 'deadline'
}

function isTooCrowded(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'too_many_waiting'
}

function ofTypes(run: EventRun, { types }: LiveQuery): EventRun {
  if (types === undefined) return run
  return { ...run, items: run.items.filter((event) => isOfTypes(event, types)) }
}
