/** Reads with the service's own reads (PROTOCOL §11): a snapshot, then runs of events after a number. */
import type { Connection } from '../connection.ts'
import { requestRun } from '../reading/get.ts'
import { NotFoundError, ServiceError } from '../service-errors.ts'
import { feedPaths } from '../wire.ts'
import { stepAfterRun } from './plan.ts'
import type { ResyncReason } from './plan.ts'
import type { NumbersReading, SnapshotReading } from './reading.ts'
import type { RoundOptions } from './options.ts'
import type { Session } from './session.ts'
import { readSnapshot } from './snapshot.ts'

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
