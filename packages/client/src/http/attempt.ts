/** The limits of an attempt: the caller's signal, silence, and the deadline of the call. */
import type { Connection } from '../connection.ts'
import { AbortedError, NetworkError } from '../errors.ts'
import type { PropertyEventsError } from '../errors.ts'
import { transportFaultOf } from './transport-faults.ts'

export interface Attempt {
  /** Ends the request when one of the limits is reached, or `end` is called. */
  readonly signal: AbortSignal
  /** From now on, silence ends the attempt. */
  listen(): void
  /** The caller is reading: until `listen`, a pause is not the sender's silence. */
  pause(): void
  /** The deadline no longer ends the attempt. */
  lift(): void
  /** The error to throw for an error that ended the attempt; it says which limit was the reason. */
  explain(cause: unknown): PropertyEventsError
  /** The attempt is over; no limit ends it any more. */
  settle(): void
  /** Closes the connection if it is still open. */
  end(): void
}

/** Begins to listen. `endsAt`: when the call as a whole has to end, by the connection's clock; without it, never. */
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
    lift: () => clearTimeout(deadline),
    explain(cause) {
      settle()
      if (signal?.aborted === true) return new AbortedError({ cause: signal.reason })
      if (reached === 'silence') {
        return new NetworkError('deadline', `${name}: nothing arrived for ${connection.attemptTimeoutMs} ms.`)
      }
      if (reached === 'deadline') {
        return new NetworkError(
          'deadline',
          `${name}: the call reached its deadlineMs of ${connection.deadlineMs} ms before the answer was complete.`,
        )
      }
      const fault = transportFaultOf(cause, connection.baseUrl)
      if (fault !== undefined) {
        return new NetworkError(fault.code, `${name}: ${fault.sentence}`, cause, fault.attempts)
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
