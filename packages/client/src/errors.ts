/** What can go wrong, one class per code under one base, so that `instanceof` and `error.code` both work. */

export interface ErrorContext {
  /** The service's name for the request; quote it to the operator. */
  readonly requestId?: string | undefined
  readonly cause?: unknown
}

/** Everything this package throws by itself. What `apply` or a checkpoint store throws passes through unchanged. */
export class PropertyEventsError extends Error {
  /** Stable, machine-readable. */
  readonly code: string
  readonly requestId: string | undefined
  constructor(code: string, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause })
    this.name = new.target.name
    this.code = code
    this.requestId = context.requestId
  }
}

/** No answer: the connection failed or broke. Tried again before it is thrown. */
export class NetworkError extends PropertyEventsError {
  constructor(message: string, context?: ErrorContext) {
    super('network', message, context)
  }
}

/** Nothing came for `attemptTimeoutMs`, or the call as a whole took longer than `deadlineMs`. */
export class DeadlineError extends PropertyEventsError {
  constructor(message: string, context?: ErrorContext) {
    super('deadline', message, context)
  }
}

/** The caller's `AbortSignal` ended the call. */
export class AbortedError extends PropertyEventsError {
  constructor(context?: ErrorContext) {
    super('aborted', 'The call was ended by its AbortSignal.', context)
  }
}

/** The answer was cut off or is not what the contract says. Tried again before it is thrown. */
export class InvalidAnswerError extends PropertyEventsError {
  constructor(message: string, context?: ErrorContext) {
    super('invalid_answer', message, context)
  }
}

/** The address, the key or an option cannot be used; nothing was sent. */
export class InvalidOptionError extends PropertyEventsError {
  constructor(message: string, context?: ErrorContext) {
    super('invalid_option', message, context)
  }
}

/** The checkpoint is not one of ours, is of a newer version, or belongs to another feed or tenant. */
export class CheckpointError extends PropertyEventsError {
  constructor(message: string, context?: ErrorContext) {
    super('checkpoint', message, context)
  }
}

/** The breaker stopped a sync before it removed too much of the copy. Nothing of the batch was applied. */
export class MassRemovalError extends PropertyEventsError {
  /** What this sync would have removed of the copy, with what it removed within the breaker's window. */
  readonly removals: number
  /** How many subjects the copy holds, with what it removed within the breaker's window. */
  readonly held: number
  /** Subjects of the batch that would have gone. */
  readonly subjectIds: readonly string[]
  constructor(removals: number, held: number, subjectIds: readonly string[]) {
    super(
      'mass_removal',
      `This sync would remove ${removals} of ${held} subjects of the copy, so it stopped before doing it. ` +
        'If that is right, run it once with allowMassRemoval: true; nothing is lost by waiting.',
    )
    this.removals = removals
    this.held = held
    this.subjectIds = subjectIds
  }
}
