/** Follows a feed over the best transport that works: a stream, otherwise waiting requests, otherwise pauses between requests. */
import type { Connection } from '../connection.ts'
import { InvalidAnswerError, NetworkError } from '../errors.ts'
import { beginAttempts } from '../http/retry.ts'
import { ServiceError } from '../service-errors.ts'
import type { EventRun } from '../wire.ts'
import { pollRuns, usualPauses, waitRuns } from './poll-runs.ts'
import type { LiveCursor, LiveQuery } from './live-cursor.ts'
import { streamRuns } from './stream-runs.ts'
import type { Transport } from './transports.ts'

interface LiveOptions extends LiveQuery {
  /** `auto`: the best one that works. Any other value is used even if it does not work. */
  readonly transport: Transport | 'auto'
  readonly signal: AbortSignal | undefined
}

/** Used if a service with too many waiting requests does not say how long to wait. */
const usualCrowdMs = 5_000
/** A stream of this length was of use, even if it brought nothing. */
const usefulMs = 30_000

/**
 * The events after `cursor` as they come, for ever: in order, each once, in runs that say how far the reader is. It reconnects by itself.
 * Throws what no attempt can solve: an invalid position, a key that may not read, a service that stays away for all attempts of the client.
 */
export async function* liveRuns(
  connection: Connection,
  cursor: LiveCursor,
  options: LiveOptions,
): AsyncGenerator<EventRun, void, undefined> {
  const { transports, retry, sleep, random } = connection
  const { transport, signal } = options
  const attempts = beginAttempts(connection, signal)
  const streams: Streams = { fruitless: 0 }
  let isCrowded = false
  for (;;) {
    const current = isCrowded ? 'polls' : transport === 'auto' ? transports.best : transport
    // One request if there is no room to wait; otherwise this transport is used until there is a better one.
    const isOver = (): boolean => isCrowded || (transport === 'auto' && transports.best !== current)
    const answersBefore = cursor.answers
    try {
      yield* runsBy(current, connection, cursor, options, { streams, isOver })
      isCrowded = false
      attempts.renew()
    } catch (error) {
      isCrowded = false
      if (current === 'wait' && isCutShort(error)) transports.shortenWait()
      // An unusable answer may come again and again: what came before it is not progress.
      if (cursor.answers > answersBefore && !(error instanceof InvalidAnswerError)) attempts.renew()
      if (isTooCrowded(error) && transport === 'auto') {
        isCrowded = true
        const waitMs =
          boundedMs(error.retryAfterMs ?? usualCrowdMs, retry.maxRetryAfterMs) * (1 + random() / 2)
        retry.onWait?.(error, waitMs)
        await sleep(waitMs, signal)
      } else await attempts.failed(error)
    }
  }
}

/** Streams in a row that ended soon and brought no event. */
interface Streams {
  fruitless: number
}

async function* runsBy(
  current: Transport,
  connection: Connection,
  cursor: LiveCursor,
  options: LiveOptions,
  { streams, isOver }: { readonly streams: Streams; readonly isOver: () => boolean },
): AsyncGenerator<EventRun, void, undefined> {
  const { signal } = options
  if (current === 'polls') yield* pollRuns(connection, cursor, options, isOver, signal)
  else if (current === 'wait') yield* waitRuns(connection, cursor, options, isOver, signal)
  else {
    const begunMs = connection.now()
    const end = yield* streamRuns(connection, cursor, options, signal)
    if (end.kind === 'ended') {
      const isFruitless = !end.hadEvents && connection.now() - begunMs < usefulMs
      streams.fruitless = isFruitless ? streams.fruitless + 1 : 0
      await connection.sleep(pauseAfter(end.retryMs, streams.fruitless, connection.random), signal)
    } else if (options.transport === 'stream') throw new InvalidAnswerError(end.reason)
    else connection.transports.giveUpStreams()
  }
}

/** A proxy did not wait as long as the service would have. */
function isCutShort(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'gateway_timeout'
  return error instanceof NetworkError && error.code === 'deadline'
}

function isTooCrowded(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'too_many_waiting'
}

/** Before the next stream: as long as the service says, twice as long after each that brought nothing, and at least a second. */
function pauseAfter(retryMs: number, fruitless: number, random: () => number): number {
  const { minIntervalMs, maxIntervalMs } = usualPauses
  const askedMs = boundedMs(retryMs, maxIntervalMs)
  const ms = Math.min(maxIntervalMs, askedMs * 2 ** Math.max(0, fruitless - 1))
  return Math.max(minIntervalMs, ms * (0.75 + random() / 2))
}

/** A wait that a service asks for is neither nothing, which would be a request after another, nor for days. */
function boundedMs(askedMs: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(usualPauses.minIntervalMs, askedMs))
}
