/** Keeps a copy in step with a feed: load the checkpoint, ask, keep the latest per subject, apply, save, again. */
import type { Connection } from '../connection.ts'
import { decodeHeads } from '../decode.ts'
import { AbortedError, InvalidAnswerError, PropertyEventsError } from '../errors.ts'
import { requestJson } from '../http.ts'
import { ServiceError } from '../service-errors.ts'
import { headsPath } from '../wire.ts'
import type { FeedHead, FeedName } from '../wire.ts'
import type { SyncOptions, SyncResult } from './options.ts'
import { firstWalk } from './reading.ts'
import type { ResyncReason } from './plan.ts'
import { readNumbers, resyncReasonOf, takeSnapshot } from './read-numbers.ts'
import { walkPages } from './read-pages.ts'
import type { RoundOptions } from './round.ts'
import { openSession } from './session.ts'
import type { Session } from './session.ts'

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
    await options.onCaughtUp?.()
    if (options.follow === undefined || options.follow === false) return resultOf(session, 'caughtUp')
    await follow(connection, session, round, options)
  } catch (error) {
    if (error instanceof AbortedError && options.signal?.aborted === true) return resultOf(session, 'aborted')
    throw error
  }
  return resultOf(session, 'aborted')
}

/** The longest `Retry-After` a following sync waits for: a service that comes back sooner should not be missed for long. */
const maxAskedMs = 3_600_000

/** Repeats rounds until an abort ends it. */
async function follow<F extends FeedName>(
  connection: Connection,
  session: Session,
  round: RoundOptions,
  options: SyncOptions<F>,
): Promise<void> {
  const { minIntervalMs = 1_000, maxIntervalMs = 30_000 } =
    options.follow === true ? {} : options.follow || {}
  let intervalMs = minIntervalMs
  let askedMs = 0
  while (options.signal?.aborted !== true) {
    await connection.sleep(askedMs + intervalMs * (0.75 + connection.random() / 2), options.signal)
    askedMs = 0
    const before = session.counts.changes
    try {
      await catchUp(connection, session, round)
      intervalMs = session.counts.changes > before ? minIntervalMs : Math.min(maxIntervalMs, intervalMs * 2)
    } catch (error) {
      // The retries are used up, but a service may be away for an hour, and a follower should continue when it is back.
      const isOver = !(error instanceof PropertyEventsError) || error.again === 'never'
      if (session.broken || isOver) throw error
      options.onTrouble?.(error)
      intervalMs = maxIntervalMs
      askedMs = error instanceof ServiceError ? Math.min(maxAskedMs, error.retryAfterMs ?? 0) : 0
      continue
    }
    await options.onCaughtUp?.()
  }
}

/** The most resyncs in one round: a server that changes its epoch all the time is broken. */
const maxResyncs = 3

async function catchUp(connection: Connection, session: Session, round: RoundOptions): Promise<void> {
  let ownReads: boolean | undefined
  for (let resyncs = 0; ; resyncs += 1) {
    let reason: ResyncReason | undefined
    try {
      ownReads ??= await hasOwnReads(connection, session, round.signal)
      reason = await readOn(connection, session, ownReads, round)
    } catch (error) {
      // Errors of the copy or its store are the caller's own, even if they look like one of ours.
      const isOurs = !session.broken && session.reading.kind !== 'pages'
      reason = isOurs ? resyncReasonOf(error) : undefined
      if (reason === undefined || resyncs >= maxResyncs) throw error
      if (reason === 'server_changed') ownReads = undefined
    }
    if (reason === undefined) return
    if (resyncs >= maxResyncs) throw beginsAnew(resyncs + 1, reason)
    // Numbers that are no longer valid may be another tenant's, and the reading of its empty feed would empty the copy.
    if (ownReads === true) await checkTenantAnew(connection, session, round.signal)
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
  ownReads: boolean,
  round: RoundOptions,
): Promise<ResyncReason | undefined> {
  const { reading } = session
  if (!ownReads) {
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

/**
 * Finds out whether the server has the reads of PROTOCOL §11. Only while that is not known: later, in the middle of
 * reading by numbers, a temporary fault must not be taken for a plain server.
 */
async function hasOwnReads(
  connection: Connection,
  session: Session,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (session.reading.kind === 'snapshot' || session.reading.kind === 'numbers') return true
  try {
    const head = await askHead(connection, signal)
    if (head !== undefined) session.checkTenant(head.tenantId)
    return head !== undefined
  } catch (error) {
    if (error instanceof ServiceError && error.again !== 'operator') return false
    throw error
  }
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
    const head = await askHead(connection, signal)
    if (head !== undefined) session.checkTenant(head.tenantId)
  } catch (error) {
    // A permanent refusal says nothing about the tenant; after a temporary one the request can be repeated.
    if (!(error instanceof ServiceError) || error.again !== 'never') throw error
  }
}

/** The head of the feed, and its tenant; `undefined` when the answer does not come from a Property Events service. */
async function askHead(
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<FeedHead | undefined> {
  const request = { method: 'GET', path: headsPath } as const
  // Some servers answer every path with 200 and a page, so an answer in another form is a valid result, too.
  const { value } = await requestJson(connection, request, (body) => decodeHeads(body) ?? 'notOurs', signal)
  if (value === 'notOurs') return undefined
  const heads = value.heads.filter(({ feed }) => feed === connection.feed)
  return heads.length === 1 ? heads[0] : undefined
}

function resultOf(session: Session, ended: SyncResult['ended']): SyncResult {
  const { kind } = session.reading
  const readBy = kind === 'pages' ? 'pages' : kind === 'start' ? 'nothing' : 'numbers'
  return { ended, readBy, ...session.counts }
}
