/** What ends an attempt before its answer is whole: the caller's signal, silence, the deadline of the call. */
import type { Connection } from './connection.ts'
import { AbortedError, NetworkError } from './errors.ts'
import type { PropertyEventsError } from './errors.ts'

export interface Attempt {
  /** Ends the request when one of the limits is reached, or `end` is called. */
  readonly signal: AbortSignal
  /** From now on silence counts. */
  listen(): void
  /** The reader has the word: until `listen`, silence is not the sender's. */
  pause(): void
  /** The error to throw for one that broke the attempt off: why it did. */
  explain(cause: unknown): PropertyEventsError
  /** Nothing is awaited any more; no limit ends it. */
  settle(): void
  /** Closes the connection if there still is one. */
  end(): void
}

/** Begins to listen. `endsAt` is when the call as a whole is to end, by the connection's clock; without it, never. */
export function beginAttempt(
  connection: Connection,
  /** For messages. */
  name: string,
  signal: AbortSignal | undefined,
  endsAt: number | undefined,
): Attempt {
  if (signal?.aborted === true) throw new AbortedError({ cause: signal.reason })
  const controller = new AbortController()
  let reached: 'silence' | 'deadline' | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  const reach = (limit: 'silence' | 'deadline') => {
    reached ??= limit
    controller.abort()
  }
  const onAbort = () => controller.abort()
  const deadline =
    endsAt === undefined
      ? undefined
      : setTimeout(() => reach('deadline'), Math.max(0, endsAt - connection.now()))
  const settle = () => {
    clearTimeout(silence)
    clearTimeout(deadline)
    signal?.removeEventListener('abort', onAbort)
  }
  const listen = () => {
    clearTimeout(silence)
    silence = setTimeout(() => reach('silence'), connection.attemptTimeoutMs)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  listen()
  return {
    signal: controller.signal,
    listen,
    pause: () => clearTimeout(silence),
    explain(cause) {
      settle()
      if (signal?.aborted === true) return new AbortedError({ cause: signal.reason })
      if (reached === 'silence') {
        return new NetworkError('deadline', `${name}: nothing came for ${connection.attemptTimeoutMs} ms.`)
      }
      if (reached === 'deadline') {
        return new NetworkError(
          'deadline',
          `${name}: the call reached its deadlineMs of ${connection.deadlineMs} ms before the answer was whole.`,
        )
      }
      return new NetworkError('network', `${name}: ${reasonOf(cause)}`, cause)
    },
    settle,
    end: () => controller.abort(),
  }
}

/** fetch hides the reason in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed.'
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${inner}`
}
