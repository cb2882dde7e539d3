/** When a publisher or consumer has been silent for too long: rules without any I/O (PROTOCOL §14.7). */
import { pauseDaysKept } from './silence.ts'
import type { Pause, Presence } from './silence.ts'

const dayMs = 86_400_000

/** The expected interval is learned this long after it was first seen, which includes nights and a weekend. */
export const learningMs = 7 * dayMs
/** The shortest learned interval: a client that asks once a second is no more reliable than one that asks once a minute. */
export const shortestLearnedMs = 900_000
/** The shortest interval that can be set: notes in memory reach the store within 35 seconds, and checks are a minute apart. */
export const shortestSetMs = 300_000
export const longestSetMs = 30 * dayMs
/** Shorter pauses are not kept: half as long again is less than the shortest learned interval. */
export const shortestPauseMs = shortestLearnedMs / 1.5
/** While somebody is present, its row is written this often. */
export const savedEveryMs = 300_000
/** The time after the interval before anything is reported: the last notes may not be in the store yet. */
export const settlingMs = 60_000
/** A name that was not seen for this long, and has no setting, is forgotten. */
export const forgottenMs = 90 * dayMs

/** When it was seen since the last check, and the longest pauses between. */
export interface Seen {
  readonly firstMs: number
  readonly lastMs: number
  readonly pauses: readonly Pause[]
}

/**
 * Whether it can be expected: `paused` while its tenants are suspended or being moved, `ended` if no key will ever ask in its name,
 * `gone` if its key or tenant no longer exists.
 */
export type PresenceStatus = 'active' | 'paused' | 'ended' | 'gone'

export interface CheckFacts {
  /** `undefined`: not since the last check. */
  readonly seen: Seen | undefined
  /** Since when there has been no long gap between two checks. */
  readonly watchedMs: number
  readonly nowMs: number
}

/** The interval that is expected now. `isSet`: by an operator; otherwise it is learned. */
export interface ExpectedInterval {
  readonly ms: number
  readonly isSet: boolean
}

/** `undefined`: nothing is expected, or not yet. */
export function expectedInterval(
  { expectation, firstMs, pauses }: Presence,
  nowMs: number,
): ExpectedInterval | undefined {
  if (expectation === 'never') return undefined
  if (expectation !== undefined) return { ms: expectation, isSet: true }
  if (firstMs === undefined || nowMs - firstMs < learningMs) return undefined
  const longestMs = Math.max(0, ...keptPauses(pauses, nowMs).map(({ ms }) => ms))
  return { ms: Math.max(shortestLearnedMs, Math.ceil(longestMs * 1.5)), isSet: false }
}

/** False: it is present as expected, so its status changes nothing. */
export function needsStatus(presence: Presence, facts: CheckFacts): boolean {
  if (presence.silentMs !== undefined || presence.activeMs === undefined) return true
  return isForgotten(presence, facts) || isTooLong(withSeen(presence, facts), facts, presence.activeMs)
}

/** The next state of its row: the same object if nothing has to be written. */
export function nextPresence(before: Presence, facts: CheckFacts, status: PresenceStatus): Presence {
  const seen = withSeen(before, facts)
  const activeMs = status === 'active' ? (before.activeMs ?? facts.nowMs) : undefined
  const silentMs = silentSince(before, seen, facts, activeMs)
  const isTurned = (silentMs === undefined) !== (before.silentMs === undefined)
  if (!isTurned && activeMs === before.activeMs && !isWorthSaving(before, seen)) return before
  return { ...seen, activeMs, silentMs, isReported: before.isReported !== isTurned }
}

/** Whether its row need not be kept any more. */
export function isOver(presence: Presence, facts: CheckFacts, status: PresenceStatus): boolean {
  if (status === 'gone') return true
  if (presence.expectation !== undefined) return false
  return status === 'ended' || isForgotten(presence, facts)
}

function isForgotten({ lastMs, expectation }: Presence, { nowMs, seen }: CheckFacts): boolean {
  if (expectation !== undefined) return false
  return Math.max(lastMs ?? 0, seen?.lastMs ?? 0) < nowMs - forgottenMs
}

/** Adds what was seen of it since: the pause before it, and those in between. */
function withSeen(before: Presence, { seen, watchedMs, nowMs }: CheckFacts): Presence {
  if (seen === undefined) return before
  const { firstMs, lastMs } = before
  const pauses = [...before.pauses, ...seen.pauses]
  if (lastMs !== undefined) {
    // A time that nobody watched is not a pause of its own.
    const ms = seen.firstMs - Math.max(lastMs, watchedMs)
    if (ms >= shortestPauseMs) pauses.push({ day: dayOf(seen.firstMs), ms })
  }
  return {
    ...before,
    firstMs: Math.min(firstMs ?? Infinity, seen.firstMs),
    lastMs: Math.max(lastMs ?? 0, seen.lastMs),
    pauses: keptPauses(pauses, nowMs),
  }
}

/** It was seen some minutes after the stored time, or is back. */
function isWorthSaving(before: Presence, { lastMs }: Presence): boolean {
  if (lastMs === before.lastMs) return false
  return before.silentMs !== undefined || (lastMs ?? 0) - (before.lastMs ?? 0) >= savedEveryMs
}

function silentSince(
  before: Presence,
  seen: Presence,
  facts: CheckFacts,
  activeMs: number | undefined,
): number | undefined {
  const expected = expectedInterval(seen, facts.nowMs)
  if (activeMs === undefined || expected === undefined) return undefined
  if (before.silentMs === undefined) {
    return isTooLong(seen, facts, activeMs) ? (seen.lastMs ?? activeMs) : undefined
  }
  const isBack = (seen.lastMs ?? 0) > before.silentMs
  return isBack || before.silentMs + expected.ms > facts.nowMs ? undefined : before.silentMs
}

/** Everything counts as seen when it becomes active, and when checks begin again after a gap. */
function isTooLong(presence: Presence, { watchedMs, nowMs }: CheckFacts, activeMs: number): boolean {
  const expected = expectedInterval(presence, nowMs)
  const fromMs = Math.max(presence.lastMs ?? 0, activeMs, watchedMs)
  return expected !== undefined && nowMs > fromMs + expected.ms + settlingMs
}

/** The longest pause of each day that still counts for learning, ascending. */
function keptPauses(pauses: readonly Pause[], nowMs: number): readonly Pause[] {
  const longest = new Map<number, number>()
  for (const { day, ms } of pauses) {
    if (day > dayOf(nowMs) - pauseDaysKept) longest.set(day, Math.max(longest.get(day) ?? 0, ms))
  }
  return [...longest].map(([day, ms]) => ({ day, ms })).toSorted((a, b) => a.day - b.day)
}

/** Adds a moment at which it was seen. Moments are given in order; anything before `watchedMs` is not a pause of its own. */
export function seenAt(before: Seen | undefined, ms: number, watchedMs: number): Seen {
  if (before === undefined) return { firstMs: ms, lastMs: ms, pauses: [] }
  const pauseMs = ms - Math.max(before.lastMs, watchedMs)
  if (pauseMs < shortestPauseMs) return { ...before, lastMs: Math.max(before.lastMs, ms) }
  const pauses = keptPauses([...before.pauses, { day: dayOf(ms), ms: pauseMs }], ms)
  return { ...before, lastMs: ms, pauses }
}

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs)
}
