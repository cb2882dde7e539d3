/** The errors of this package. One class for each way to respond, and a `code` for what happened. */
import { againOf } from './codes.ts'
import type { Again, CodeOf, ErrorCode } from './codes.ts'

interface ErrorContext {
  /** The id that the service gave the request; quote it to the operator. */
  readonly requestId?: string | undefined
  readonly cause?: unknown
  /** No more attempts than this are made of a request that fails so, first one included. */
  readonly attempts?: number | undefined
}

/** Every error that this package throws itself. Errors of `apply` or of a checkpoint store pass through unchanged. */
export class PropertyEventsError extends Error {
  /** Stable, machine-readable. Each class has codes of its own. */
  readonly code: ErrorCode
  /** Whether another try may help. A request with `later` was repeated before the error was thrown. */
  readonly again: Again
  readonly requestId: string | undefined
  /** No more attempts than this are made of a request that fails so, first one included: waiting mends it rarely. */
  readonly attempts: number
  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause })
    this.name = new.target.name
    this.code = code
    this.again = againOf(code)
    this.requestId = context.requestId
    this.attempts = context.attempts ?? Infinity
  }
}

/**
 * There was no complete answer. `network`: the connection failed or broke. `deadline`: nothing arrived for
 * `attemptTimeoutMs`, or the call as a whole took longer than `deadlineMs`. `unknown_host`: the name of the service is not known, also
 * after a few attempts. Waiting does not mend the rest: a `certificate` that cannot be verified, another reason why no `tls` connection
 * is possible, or an answer that is `not_http`.
 */
export class NetworkError extends PropertyEventsError {
  declare readonly code: CodeOf<'network'>
  constructor(code: CodeOf<'network'>, message: string, cause?: unknown, attempts?: number) {
    super(code, message, { cause, attempts })
  }
}

/** The caller's `AbortSignal` ended the call. */
export class AbortedError extends PropertyEventsError {
  declare readonly code: CodeOf<'aborted'>
  constructor(context?: ErrorContext) {
    super('aborted', 'The call was ended by its AbortSignal.', context)
  }
}

/** The answer was cut off or does not follow the contract. */
export class InvalidAnswerError extends PropertyEventsError {
  declare readonly code: CodeOf<'invalidAnswer'>
  constructor(message: string, context?: ErrorContext) {
    super('invalid_answer', message, context)
  }
}

/** The address, the key or an option cannot be used; nothing was sent. */
export class InvalidOptionError extends PropertyEventsError {
  declare readonly code: CodeOf<'invalidOption'>
  constructor(message: string, context?: ErrorContext) {
    super('invalid_option', message, context)
  }
}

/** The checkpoint was not made by this package, or by a newer version, or belongs to another feed or tenant. */
export class CheckpointError extends PropertyEventsError {
  declare readonly code: CodeOf<'checkpoint'>
  constructor(message: string, context?: ErrorContext) {
    super('checkpoint', message, context)
  }
}

/** The numbers that the breaker compares. */
interface MassRemoval {
  /** The subjects that the copy holds and the batch would have removed; only these count. */
  readonly subjectIds: readonly string[]
  /** Subjects the copy holds now. */
  readonly held: number
  /** How many fewer than the most within the breaker's window the copy holds before this batch, by this run or an earlier one. */
  readonly removedBefore: number
  /** As many may be gone within the window, `removedBefore` included. */
  readonly limit: number
  /** The breaker's window. */
  readonly windowMs: number
}

/** The breaker stopped a sync before it removed too much of the copy. Nothing of the batch was applied. */
export class MassRemovalError extends PropertyEventsError implements MassRemoval {
  declare readonly code: CodeOf<'massRemoval'>
  /** The number of subjects that the batch would have removed from the copy: as many as `subjectIds` has. */
  readonly removals: number
  readonly subjectIds: readonly string[]
  readonly held: number
  readonly removedBefore: number
  readonly limit: number
  readonly windowMs: number
  /** What would go, the limit, and that updates have stopped: the message without what to do, for programs that say that in their own way. */
  readonly summary: string
  constructor(stopped: MassRemoval) {
    const { subjectIds, held, removedBefore, limit, windowMs } = stopped
    const gone = removedBefore + subjectIds.length
    const summary =
      `Stopped: with ${subjectIds.length === 1 ? 'this one' : `these ${countText(subjectIds.length)}`}, ${countText(gone)} of ${countText(held + removedBefore)} in the copy would be gone within ` +
      `${durationOf(windowMs)} (limit ${countText(limit)}). Nothing was removed, and updates have stopped until this is settled.`
    super(
      'mass_removal',
      `${summary} To allow it once: allowMassRemoval: true. If it is a mistake, ` +
        'have them published again and run the sync as usual; nothing is lost by waiting.',
    )
    this.summary = summary
    this.removals = subjectIds.length
    this.subjectIds = subjectIds
    this.held = held
    this.removedBefore = removedBefore
    this.limit = limit
    this.windowMs = windowMs
  }
}

/** `1,204`. */
export function countText(count: number): string {
  return count.toLocaleString('en-GB')
}

function durationOf(ms: number): string {
  const hours = ms / 3_600_000
  return Number.isInteger(hours) ? `${hours} hours` : `${Math.max(1, Math.round(ms / 60_000))} minutes`
}
