/** Continues after a sync has caught up: waits for events if the service supports it (PROTOCOL §13), otherwise polls. */
import { createTenantCheck } from '../reading/answer-checks.ts'
import type { Connection } from '../connection.ts'
import { PropertyEventsError } from '../errors.ts'
import { nextPause, usualPauses } from '../live/poll-runs.ts'
import type { Pauses } from '../live/poll-runs.ts'
import { liveRuns } from '../live/live-runs.ts'
import type { Transport } from '../live/transports.ts'
import { ServiceError } from '../service-errors.ts'
import type { EventRun, FeedName } from '../wire.ts'
import { notifyCaughtUp } from './notify-caught-up.ts'
import type { RoundOptions, SyncOptions } from './options.ts'
import { stepAfterRun } from './plan.ts'
import { resyncReasonOf } from './read-numbers.ts'
import type { NumbersReading } from './reading.ts'
import type { Session } from './session.ts'

interface Following<F extends FeedName> {
  readonly connection: Connection
  readonly session: Session
  readonly round: RoundOptions
  readonly options: SyncOptions<F>
  /** Asks for everything that the copy lacks, and applies it. */
  readonly catchUp: () => Promise<void>
}

/** The longest `Retry-After` a following sync waits for: a service that comes back sooner should not be missed for long. */
const maxAskedMs = 3_600_000
/** With more numbers than this to read, whole runs are faster than the pieces of a stream. */
const farFromHead = 1_000

/** Until an abort ends it. */
export async function follow<F extends FeedName>(following: Following<F>): Promise<void> {
  const { connection, session, options, catchUp } = following
  const { transport, pauses } = settingsOf(options)
  let intervalMs = pauses.minIntervalMs
  let askedMs = 0
  let isToAsk = false
  while (options.signal?.aborted !== true) {
    const { reading } = session
    let failure: Failure | undefined
    if (reading.kind === 'numbers' && transport !== 'polls' && !isToAsk) {
      failure = await readLive(following, reading, transport)
      intervalMs = pauses.minIntervalMs
      isToAsk = true
    } else {
      await connection.sleep(askedMs + intervalMs * (0.75 + connection.random() / 2), options.signal)
      askedMs = 0
      const before = session.counts.changes
      failure = await failureOf(catchUp())
      intervalMs = nextPause(intervalMs, session.counts.changes > before, pauses)
      isToAsk = failure !== undefined
      if (failure === undefined) await notifyCaughtUp(following)
    }
    if (failure === undefined) continue
    const { error } = failure
    // The retries are used up, but a service may be away for an hour, and a follower should continue when it is back.
    const isOver = !(error instanceof PropertyEventsError) || error.again === 'never'
    if (session.broken || isOver) throw error
    options.onTrouble?.(error)
    intervalMs = pauses.maxIntervalMs
    askedMs = error instanceof ServiceError ? Math.min(maxAskedMs, error.retryAfterMs ?? 0) : 0
  }
}

function settingsOf<F extends FeedName>({
  follow,
}: SyncOptions<F>): { readonly transport: Transport | 'auto'; readonly pauses: Pauses } {
  const given = follow === true || follow === false || follow === undefined ? {} : follow
  const { minIntervalMs, maxIntervalMs } = { ...usualPauses, ...given }
  return { transport: given.transport ?? 'auto', pauses: { minIntervalMs, maxIntervalMs } }
}

interface Failure {
  readonly error: unknown
}

async function failureOf(work: Promise<unknown>): Promise<Failure | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
}

/**
 * Applies events as they come. Resolves with a failure of the feed, or with nothing if the feed has to be polled, because the position is
 * invalid or far from the head. Failures of the copy or of the caller reject.
 */
async function readLive<F extends FeedName>(
  { connection, session, round, options }: Following<F>,
  { epoch, after }: NumbersReading,
  transport: Transport | 'auto',
): Promise<Failure | undefined> {
  const { apiEventType, signal } = round
  const query = { apiEventType, types: undefined, transport, signal }
  const checkTenant = createTenantCheck(connection.tenant)
  const runs = liveRuns(connection, { epoch, after, answers: 1, checkTenant }, query)
  try {
    for (;;) {
      const news = await nextOf(runs)
      if (news === undefined) return undefined
      if ('error' in news) return resyncReasonOf(news.error) === undefined ? news : undefined
      const { reading } = session
      if (reading.kind !== 'numbers') return undefined
      const step = stepAfterRun(reading, news)
      const isFar = news.items.length === 0 && news.head - news.next > farFromHead
      if (step.kind === 'startOver' || isFar) return undefined
      session.gather(news.items, step.reading)
      round.report('new', step.reading.after, news.head)
      await session.finish(-Infinity)
      if (step.kind === 'caughtUp') await notifyCaughtUp({ connection, session, options })
    }
  } finally {
    // Closes the connection, whatever ended the loop.
    await runs.return()
  }
}

async function nextOf(
  runs: AsyncGenerator<EventRun, void, undefined>,
): Promise<EventRun | Failure | undefined> {
  return runs.next().then(
    ({ value }) => value ?? undefined,
    (error: unknown) => ({ error }),
  )
}
