/** Keeps a copy in step with a feed: load the checkpoint, ask, keep the latest per subject, apply, save, again. */
import type { Connection } from '../connection.ts'
import { AbortedError, InvalidAnswerError, PropertyEventsError } from '../errors.ts'
import { ServiceError } from '../service-errors.ts'
import type { EventRun, FeedName } from '../wire.ts'
import { notifyCaughtUp } from './notify-caught-up.ts'
import type { RoundOptions, SyncOptions, SyncResult } from './options.ts'
import { probeHead, requestHead } from './capabilities.ts'
import { firstWalk } from './reading.ts'
import type { NumbersReading } from './reading.ts'
import type { ResyncReason } from './plan.ts'
import { stepAfterRun } from './plan.ts'
import { readNumbers, resyncReasonOf, takeSnapshot } from './read-numbers.ts'
import { walkPages } from './read-pages.ts'
import { openSession } from './session.ts'
import type { Session } from './session.ts'
import { createTenantCheck } from '../reading/answer-checks.ts'
import { nextPause, usualPauses } from '../live/poll-runs.ts'
import type { Pauses } from '../live/poll-runs.ts'
import { liveRuns } from '../live/live-runs.ts'
import type { Transport } from '../live/transports.ts'

const defaultOverlapMs = 3_600_000

/**
 * Reads what the copy lacks and applies it, batch by batch.
 *
 * At least once: a batch may be repeated after a crash between `apply` and the saving of the checkpoint. In each batch
 * a subject occurs once, and an event is never applied after a newer one of its subject. When the sync has caught up,
 * the copy has the event with the highest number of each subject, and so is what the feed says.
 *
 * It uses the service's own reads where the service has them, and the contract's pages where it does not. It finds out
 * by itself, and a copy that was begun one way continues the other way after a new read of the feed.
 */
export async function sync<F extends FeedName>(
  connection: Connection & { readonly feed: F },
  options: SyncOptions<F>,
): Promise<SyncResult> {
  const session = await openSession(connection.feed, options, connection.now)
  const round: RoundOptions = {
    apiEventType: options.apiEventType,
    pageSize: options.pageSize,
    overlapMs: options.overlapMs ?? defaultOverlapMs,
    signal: options.signal,
    report: (phase, done, total) =>
      options.onProgress?.({
        phase,
        done,
        total,
        events: session.counts.events,
        changes: session.counts.changes,
      }),
  }
  try {
    await catchUp(connection, session, round)
    await notifyCaughtUp({ connection, session, options })
    if (options.follow === undefined || options.follow === false) return resultOf(session, 'caughtUp')
    await follow({ connection, session, round, options, catchUp: () => catchUp(connection, session, round) })
  } catch (error) {
    if (error instanceof AbortedError && options.signal?.aborted === true) return resultOf(session, 'aborted')
    throw error
  }
  return resultOf(session, 'aborted')
}

/** The most resyncs in one round: a server that changes its epoch all the time is broken. */
const maxResyncs = 3

async function catchUp(connection: Connection, session: Session, round: RoundOptions): Promise<void> {
  let isNumbered: boolean | undefined
  for (let resyncs = 0; ; resyncs += 1) {
    let reason: ResyncReason | undefined
    try {
      isNumbered ??= await hasNumberedReads(connection, session, round.signal)
      reason = await readOn(connection, session, isNumbered, round)
    } catch (error) {
      // Errors of the copy or its store are the caller's own, even if they look like one of ours.
      const isOurs = !session.broken && session.reading.kind !== 'pages'
      reason = isOurs ? resyncReasonOf(error) : undefined
      if (reason === undefined || resyncs >= maxResyncs) throw error
      if (reason === 'server_changed') isNumbered = undefined
    }
    if (reason === undefined) return
    if (resyncs >= maxResyncs) throw beginsAnew(resyncs + 1, reason)
    // Numbers that are no longer valid may be another tenant's, and the reading of its empty feed would empty the copy.
    if (isNumbered === true) await checkTenantAnew(connection, session, round.signal)
    session.startOver(reason)
  }
}

function beginsAnew(times: number, reason: ResyncReason): InvalidAnswerError {
  return new InvalidAnswerError(
    `The feed had to be read again ${times} times in one round, the last time because of ${reason}. ` +
      'Make sure that a single service with one store answers at this address; the copy has what was applied so far.',
  )
}

async function readOn(
  connection: Connection,
  session: Session,
  isNumbered: boolean,
  round: RoundOptions,
): Promise<ResyncReason | undefined> {
  const { reading } = session
  if (!isNumbered) {
    if (reading.kind === 'pages') return walkPages(connection, session, reading, round)
    if (reading.kind !== 'start') return 'server_changed'
    await session.open(firstWalk)
    return walkPages(connection, session, firstWalk, round)
  }
  if (reading.kind === 'pages') return 'server_changed'
  if (reading.kind !== 'numbers') {
    await takeSnapshot(connection, session, reading.kind === 'snapshot' ? reading : undefined, round)
  }
  const next = session.reading
  return next.kind === 'numbers' ? readNumbers(connection, session, next, round) : undefined
}

/** Finds out whether the server has the reads of PROTOCOL §11. */
async function hasNumberedReads(
  connection: Connection,
  session: Session,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (session.reading.kind === 'snapshot' || session.reading.kind === 'numbers') return true
  const head = await probeHead(connection, signal)
  if (head !== undefined) session.checkTenant(head.tenantId)
  return head !== undefined
}

/**
 * Throws `CheckpointError` when the key reads another tenant than the checkpoint's, even if that tenant's feed is
 * empty.
 */
async function checkTenantAnew(
  connection: Connection,
  session: Session,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    const head = await requestHead(connection, signal)
    if (head !== undefined) session.checkTenant(head.tenantId)
  } catch (error) {
    // A permanent refusal says nothing about the tenant; after a temporary one the request can be repeated.
    if (!(error instanceof ServiceError) || error.again !== 'never') throw error
  }
}

function resultOf(session: Session, ended: SyncResult['ended']): SyncResult {
  const { kind } = session.reading
  const readBy = kind === 'pages' ? 'pages' : kind === 'start' ? 'nothing' : 'numbers'
  return { ended, readBy, ...session.counts }
}

/** Continues after a sync has caught up: waits for events if the service supports it (PROTOCOL §13), otherwise polls. */
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
async function follow<F extends FeedName>(following: Following<F>): Promise<void> {
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
