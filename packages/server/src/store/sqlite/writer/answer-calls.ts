/** How the writer answers: one question at a time, and each failure as one of the port's. */
import { StorageFailure } from '../../../sql/storage-errors.ts'
import { failureOf } from '../../../sql/sqlite/failure.ts'
import type { WriterFailure, WriterReply, WriterRequest, WriterVerbs } from './writer-verbs.ts'

/**
 * A write of a feature waits between its statements, and nothing may happen on its connection meanwhile: an event that was appended there
 * would be part of its commit, or be lost with it. What comes in waits its turn.
 */
export function oneAtATime<T>(answer: (given: T) => void | Promise<void>): (given: T) => void {
  const waiting: T[] = []
  let isBusy = false
  const answerRest = async (first: Promise<void>): Promise<void> => {
    isBusy = true
    await first
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await answer(next)
    isBusy = false
  }
  return (given) => {
    if (isBusy) {
      waiting.push(given)
      return
    }
    const answered = answer(given)
    if (answered !== undefined) void answerRest(answered)
  }
}

export function replyTo(
  verbs: WriterVerbs,
  [id, verb, args]: WriterRequest,
  file: string,
): WriterReply | Promise<WriterReply> {
  const beganMs = performance.now()
  const answered = (value: unknown): WriterReply => [id, performance.now() - beganMs, value]
  const failed = (error: unknown): WriterReply => [id, undefined, writerFailure(error, file)]
  try {
    const value: unknown = Reflect.apply(verbs[verb], verbs, args)
    return value instanceof Promise ? value.then(answered, failed) : answered(value)
  } catch (error) {
    return failed(error)
  }
}

function writerFailure(error: unknown, file: string): WriterFailure {
  const failure = failureOf(error, file)
  const { code, scope } =
    failure instanceof StorageFailure ? failure : new StorageFailure('storage_unavailable')
  const cause = failure.cause instanceof Error ? failure.cause : failure
  return { code, scope, cause: textOf(cause) }
}

function textOf(error: Error): string {
  return 'code' in error ? `${String(error.code)}: ${error.message}` : (error.stack ?? error.message)
}
