/**
 * What follows once everything that the feed had is in the copy: the caller is notified, and so is the service of how far the copy is
 * (PROTOCOL §14.5): never more than is stored, no more often than useful, and without disturbing the sync. Servers that take no
 * acknowledgements are asked once.
 */
import type { Connection } from '../connection.ts'
import { acknowledge } from '../consumers.ts'
import { PropertyEventsError } from '../errors.ts'
import { ConflictError, ServiceError } from '../service-errors.ts'
import type { FeedName } from '../wire.ts'
import type { AcknowledgementState, AppliedPosition } from './acknowledgement-state.ts'
import type { SyncOptions } from './options.ts'
import type { Session } from './session.ts'

/** A following sync acknowledges a new position no more often than this: the service stores it within 35 s. */
const followingPauseMs = 10_000
/** The same position is acknowledged once more after this time, when the service has stored the first one unless it crashed in between. */
const repeatAfterMs = 60_000
const timesEach = 2
const pauseAfterFailureMs = 10_000
const longestPauseMs = 3_600_000

interface CaughtUpSync<F extends FeedName> {
  readonly connection: Connection
  readonly session: Session
  readonly options: SyncOptions<F>
}

/**
 * The checkpoint is kept already, whichever way the feed was read. An error of the caller ends the sync; a failed acknowledgement does
 * not.
 */
export async function notifyCaughtUp<F extends FeedName>({
  connection,
  session,
  options,
}: CaughtUpSync<F>): Promise<void> {
  await options.onCaughtUp?.()
  const { applied } = session
  if (applied === undefined || !mayAcknowledge(connection, options)) return
  const isFollowing = options.follow !== undefined && options.follow !== false
  const sending = acknowledgeIfDue(connection, applied, { isFollowing, signal: options.signal })
  // A late answer must not hold up the next event.
  if (!isFollowing) await sending
}

/**
 * An acknowledgement covers all categories. Without a name, another sync with the same key may be reading another category, and be less
 * far.
 */
function mayAcknowledge<F extends FeedName>(
  { consumer }: Connection,
  { acknowledge: isWanted, apiEventType, isStored }: SyncOptions<F>,
): boolean {
  if (isWanted === false || (apiEventType !== undefined && consumer === undefined)) return false
  return isStored?.() !== false
}

/** Makes one attempt, if it is time for one. Never rejects. */
async function acknowledgeIfDue(
  connection: Connection,
  applied: AppliedPosition,
  { isFollowing, signal }: { readonly isFollowing: boolean; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { acknowledgements: state, now } = connection
  if (!isDue(state, applied, isFollowing, now())) return
  state.isUnderWay = true
  try {
    await acknowledge(connection, applied, signal === undefined ? {} : { signal })
    state.times = isSame(state.last, applied) ? state.times + 1 : 1
    state.last = applied
    state.lastMs = now()
  } catch (error) {
    recordFailure(state, error, now())
  } finally {
    state.isUnderWay = false
  }
}

function isDue(
  state: AcknowledgementState,
  applied: AppliedPosition,
  isFollowing: boolean,
  nowMs: number,
): boolean {
  if (state.isRefused || state.isUnderWay) return false
  // A clock that was set back must not delay it further.
  if (state.notBeforeMs > nowMs && state.notBeforeMs - nowMs <= longestPauseMs) return false
  if (state.last === undefined) return true
  const sinceMs = Math.abs(nowMs - state.lastMs)
  if (isSame(state.last, applied)) return state.times < timesEach && sinceMs >= repeatAfterMs
  return !isFollowing || sinceMs >= followingPauseMs
}

function isSame(one: AppliedPosition | undefined, other: AppliedPosition): boolean {
  return one?.sequenceNumber === other.sequenceNumber && one.epoch === other.epoch
}

/** A conflict passes: the sync finds the new epoch by itself. Other hopeless refusals are final. */
function recordFailure(state: AcknowledgementState, error: unknown, nowMs: number): void {
  const isHopeless = !(error instanceof PropertyEventsError) || error.again === 'never'
  const isAborted = error instanceof PropertyEventsError && error.code === 'aborted'
  if (isHopeless && !isAborted && !(error instanceof ConflictError)) state.isRefused = true
  const askedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0
  state.notBeforeMs = nowMs + Math.min(longestPauseMs, Math.max(pauseAfterFailureMs, askedMs))
}
