/**
 * A sync tells the service how far its copy is (PROTOCOL §14.5): never more than is stored, no more often than useful, and without
 * disturbing the sync. Servers that take no acknowledgements are asked once.
 */
import { acknowledge } from '../acknowledge.ts'
import type { Applied } from '../acknowledge.ts'
import type { Connection } from '../connection.ts'
import { PropertyEventsError } from '../errors.ts'
import { ConflictError, ServiceError } from '../service-errors.ts'
import type { Said } from './acknowledgement-state.ts'

/** A following sync acknowledges a new place no more often than this: the service stores it within 35 s. */
const followingPauseMs = 10_000
/** The same place is acknowledged once more after this time, when the service has stored the first one unless it crashed in between. */
const repeatAfterMs = 60_000
const timesEach = 2
const pauseAfterFailureMs = 10_000

/** Makes one attempt, if it is time for one. Never rejects. */
export async function sayApplied(
  connection: Connection,
  applied: Applied,
  { isFollowing, signal }: { readonly isFollowing: boolean; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { said, now } = connection
  if (!isDue(said, applied, isFollowing, now())) return
  said.isUnderWay = true
  try {
    await acknowledge(connection, applied, signal === undefined ? {} : { signal })
    said.times = isSame(said.last, applied) ? said.times + 1 : 1
    said.last = applied
    said.lastMs = now()
  } catch (error) {
    noteFailure(said, error, now())
  } finally {
    said.isUnderWay = false
  }
}

function isDue(said: Said, applied: Applied, isFollowing: boolean, nowMs: number): boolean {
  if (said.isRefused || said.isUnderWay) return false
  // A clock that was set back must not delay it further.
  if (said.notBeforeMs > nowMs && said.notBeforeMs - nowMs <= longestPauseMs) return false
  if (said.last === undefined) return true
  const sinceMs = Math.abs(nowMs - said.lastMs)
  if (isSame(said.last, applied)) return said.times < timesEach && sinceMs >= repeatAfterMs
  return !isFollowing || sinceMs >= followingPauseMs
}

function isSame(one: Applied | undefined, other: Applied): boolean {
  return one?.sequenceNumber === other.sequenceNumber && one.epoch === other.epoch
}

const longestPauseMs = 3_600_000

/** A conflict passes: the sync finds the new epoch by itself. Other hopeless refusals are final. */
function noteFailure(said: Said, error: unknown, nowMs: number): void {
  const isHopeless = !(error instanceof PropertyEventsError) || error.again === 'never'
  const isAborted = error instanceof PropertyEventsError && error.code === 'aborted'
  if (isHopeless && !isAborted && !(error instanceof ConflictError)) said.isRefused = true
  const askedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0
  said.notBeforeMs = nowMs + Math.min(longestPauseMs, Math.max(pauseAfterFailureMs, askedMs))
}
