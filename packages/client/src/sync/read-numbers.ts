/** Reads with the service's own reads (PROTOCOL §11): a snapshot, then runs of events after a number. */
import type { Connection } from '../connection.ts'
import { requestRun } from '../reading/get.ts'
import { NotFoundError, ServiceError } from '../service-errors.ts'
import { feedPaths } from '../wire.ts'
import type { FeedEvent } from '../wire.ts'
import { stepAfterRun } from './plan.ts'
import type { ResyncReason } from './plan.ts'
import type { NumbersReading, SnapshotReading } from './reading.ts'
import type { RoundOptions } from './options.ts'
import type { Session } from './session.ts'
import { otherAnswer } from '../reading/answer-checks.ts'
import { decodeEvent, decodeSnapshotEnd, isWhole, parseJson } from '../decode.ts'
import { InvalidAnswerError } from '../errors.ts'
import { decodeUtf8, openAnswer } from '../http/requests.ts'
import type { OpenAnswer } from '../http/requests.ts'
import { beginAttempts } from '../http/retry.ts'
import { maxLineLength, tooLong } from '../http/size-limits.ts'

/** Begins or continues a snapshot, and reads it to its end; reading then continues after its head. */
export async function takeSnapshot(
  connection: Connection,
  session: Session,
  resume: SnapshotReading | undefined,
  round: RoundOptions,
): Promise<void> {
  let at: SnapshotReading = resume ?? { kind: 'snapshot', epoch: '', revision: 0, head: 0, after: 0 }
  const query = {
    apiEventType: round.apiEventType,
    ...(resume === undefined ? {} : { resume: positionOf(resume) }),
  }
  for await (const piece of readSnapshot(connection, query, round.signal)) {
    if (piece.kind === 'opened') {
      at = { ...piece, kind: 'snapshot', after: 0 }
      await session.open(at)
      continue
    }
    if (piece.kind === 'again') {
      at = { ...at, after: piece.after }
      session.gather([], at)
      // Kept at once: the next run must not continue after a missing event either.
      await session.flush()
      continue
    }
    at = { ...at, after: piece.events.at(-1)?.sequenceNumber ?? at.after }
    session.gather(piece.events, at)
    round.report('whole', at.after, at.head)
    await session.flushIfFull()
  }
  const { epoch, revision, head } = at
  session.gather([], { kind: 'numbers', epoch, revision, after: head })
}

function positionOf({ after, head, epoch }: SnapshotReading) {
  return { after, head, epoch }
}

/** Reads run after run until nothing is left. Returns a reason when reading must start over. */
export async function readNumbers(
  connection: Connection,
  session: Session,
  from: NumbersReading,
  round: RoundOptions,
): Promise<ResyncReason | undefined> {
  const path = feedPaths[connection.feed].events
  for (let reading = from; ;) {
    const { after, epoch } = reading
    const query = {
      after,
      epoch,
      ...(round.pageSize === undefined ? {} : { limit: round.pageSize }),
      apiEventType: round.apiEventType,
    }
    const run = await requestRun(connection, path, query, round.signal)
    const step = stepAfterRun(reading, run)
    if (step.kind === 'startOver') return step.reason
    session.gather(run.items, step.reading)
    round.report('new', step.reading.after, run.head)
    if (step.kind === 'caughtUp') {
      await session.finish(-Infinity)
      return undefined
    }
    await session.flushIfFull()
    reading = step.reading
  }
}

/** Why a refusal of the service's own reads means starting over; `undefined`: it has another meaning. */
export function resyncReasonOf(error: unknown): ResyncReason | undefined {
  if (!(error instanceof ServiceError)) return undefined
  if (error.code === 'epoch_changed') return 'epoch_changed'
  if (error.code === 'cursor_beyond_head') return 'cursor_refused'
  return error instanceof NotFoundError ? 'server_changed' : undefined
}

/**
 * Reads a snapshot (PROTOCOL §11): the latest event of every subject as a stream of lines, resumed after an
 * interruption.
 */
interface SnapshotQuery {
  readonly apiEventType?: string | undefined
  /** Continues a snapshot that was begun: after this number, as of the same head. */
  readonly resume?: { readonly after: number; readonly head: number; readonly epoch: string }
}

interface SnapshotOpening {
  readonly kind: 'opened'
  readonly head: number
  readonly epoch: string
  readonly revision: number
}

type SnapshotPiece =
  | SnapshotOpening
  /** In ascending numbers. */
  | { readonly kind: 'events'; readonly events: readonly FeedEvent[] }
  /** An answer did not match its last line: events after this number may have been missing, and are read again. */
  | { readonly kind: 'again'; readonly after: number }

/**
 * Ends only when the whole snapshot has been read. A cut or stalled stream is asked for again from its last whole line.
 * One that lacks a line or has them out of order is asked for again from where it began: nothing shows where in it the
 * missing event belongs.
 */
async function* readSnapshot(
  connection: Connection,
  query: SnapshotQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<SnapshotPiece> {
  let resume = query.resume
  const attempts = beginAttempts(connection, signal)
  /** Only events that are new count as progress: otherwise a damaged answer would be asked for endlessly. */
  let furthest = resume?.after ?? 0
  for (;;) {
    try {
      const answer = await openAnswer(
        connection,
        {
          method: 'GET',
          path: feedPaths[connection.feed].snapshot,
          query: { apiEventType: query.apiEventType, ...resume },
        },
        signal,
      )
      const opening = openingOf(answer)
      if (resume === undefined) {
        resume = { after: 0, head: opening.head, epoch: opening.epoch }
        yield opening
      } else if (opening.head !== resume.head || opening.epoch !== resume.epoch) {
        answer.close()
        throw otherAnswer(
          `The request was for the snapshot at ${resume.head}, and the answer is one at ${opening.head}.`,
        )
      }
      const begun = resume.after
      for await (const events of eventsOf(answer, resume)) {
        if (events === 'spoiled') {
          resume = { ...resume, after: begun }
          yield { kind: 'again', after: begun }
          throw new InvalidAnswerError(
            'The events of the snapshot do not match its last line, or are not in order.',
          )
        }
        yield { kind: 'events', events }
        resume = { ...resume, after: events.at(-1)?.sequenceNumber ?? resume.after }
        if (resume.after > furthest) attempts.renew()
        furthest = Math.max(furthest, resume.after)
      }
      return
    } catch (error) {
      await attempts.failed(error)
    }
  }
}

function openingOf(answer: OpenAnswer): SnapshotOpening {
  const number = (name: string) => Number(answer.headers.get(name) ?? Number.NaN)
  const head = number('x-feed-head')
  const revision = number('x-feed-revision')
  const epoch = answer.headers.get('x-feed-epoch')
  if (!isWhole(head) || !isWhole(revision) || epoch === null) {
    answer.close()
    throw new InvalidAnswerError(
      'The snapshot lacks the headers x-feed-head, x-feed-epoch and x-feed-revision.',
    )
  }
  return { kind: 'opened', head, epoch, revision }
}

/** The events of the whole lines of each piece, until the end line, or until a line that does not belong there. */
async function* eventsOf(
  answer: OpenAnswer,
  range: { readonly after: number; readonly head: number },
): AsyncGenerator<readonly FeedEvent[] | 'spoiled'> {
  let count = 0
  let last = range.after
  for await (const lines of linesOf(answer)) {
    const events: FeedEvent[] = []
    for (const line of lines) {
      const value = parseJson(line)
      const end = decodeSnapshotEnd(value)
      if (end !== undefined) {
        if (events.length > 0) yield events
        if (end.head !== range.head || end.events !== count) yield 'spoiled'
        return
      }
      const event = decodeEvent(value)
      if (event === undefined || event.sequenceNumber <= last || event.sequenceNumber > range.head) {
        yield 'spoiled'
        return
      }
      last = event.sequenceNumber
      count += 1
      events.push(event)
    }
    if (events.length > 0) yield events
  }
  throw new InvalidAnswerError('The snapshot was cut off: its end line is missing.')
}

async function* linesOf(answer: OpenAnswer): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const chunk of answer.chunks()) {
    const lines = (rest + decodeUtf8(decoder, chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxLineLength) {
      throw tooLong(`A line of the snapshot is longer than ${maxLineLength} characters.`)
    }
    if (lines.length > 0) yield lines
  }
}
