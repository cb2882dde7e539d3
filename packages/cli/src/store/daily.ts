/** A daily task at a time of day in UTC, in which no hour is missing or repeated. */
import { setTimeout as delay } from 'node:timers/promises'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** The clock may be set, and the machine may sleep, so the time is checked at least this often. */
const sleepAtMostMs = 10 * minuteMs

/** Milliseconds after midnight for `HH:MM`; `undefined`: not a time of day. */
export function dailyTimeOf(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? undefined : (Number(hours) * 60 + Number(minutes)) * minuteMs
}

/** The first such moment after the given one; milliseconds since 1970. */
export function nextDaily(timeMs: number, nowMs: number): number {
  const today = nowMs - (nowMs % dayMs) + timeMs
  return today > nowMs ? today : today + dayMs
}

export interface DailyClock {
  readonly nowMs: () => number
  /** Resolves after this time, or at once when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

const machineClock: DailyClock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
}

/** Resolves when the signal is aborted, after the task under way. A moment missed while the machine slept is made up for at once. */
export async function runDaily(
  timeMs: number,
  signal: AbortSignal,
  run: () => Promise<void>,
  { nowMs, sleep }: DailyClock = machineClock,
): Promise<void> {
  let due = nextDaily(timeMs, nowMs())
  while (!signal.aborted) {
    const leftMs = due - nowMs()
    if (leftMs > 0) await sleep(Math.min(leftMs, sleepAtMostMs), signal)
    else {
      await run()
      due = nextDaily(timeMs, nowMs())
    }
  }
}
