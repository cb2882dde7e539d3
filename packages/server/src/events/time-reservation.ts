/**
 * What this node knows of the store's reservation of time, and when it asks for more: windows are answered within it, and
 * nearly never wait for it (P3, docs/decisions/0013). The store moves it to 10 s from now.
 */
import { ticksPerMillisecond } from '@property-events/protocol/plain'
import type { Ticks } from '@property-events/protocol'
import { reported } from '../runtime/background-task.ts'
import type { TaskReport } from '../runtime/background-task.ts'
import { StorageFailure } from '../sql/storage-errors.ts'
import type { LocateQuery, Located } from './event-log.ts'

/** How far from the clock the store moves the reservation. */
export const reservedAheadTicks: Ticks = 10_000n * ticksPerMillisecond
/** The store moves it when less than this is left. */
export const renewedBelowTicks: Ticks = 5_000n * ticksPerMillisecond

/** Where the reservation stands, by the store's clock. */
export interface Reserved {
  readonly moment: Ticks
  readonly reserved: Ticks
}

export interface TimeReservation {
  /** Whether a window may be answered at this moment. Once one was, the reservation is kept ahead for two minutes. */
  covers(moment: Ticks): boolean
  /** The last moment that is reserved, as far as this node knows; 0: none is. */
  reserved(): Ticks
  /** Resolves when the store has moved it on. Rejects when it cannot, and with `storage_unavailable` when that takes too long. */
  renewed(): Promise<void>
  /** How far ahead of the store's clock time is reserved, as far as this node knows; `undefined`: nothing is. */
  aheadMs(): number | undefined
  /** The store may not hold the reservation: its history is another one. */
  forget(): void
  /** Nothing is asked of the store any more. */
  stop(): void
}

interface TimeReservationOptions {
  /** Asks the store to move the reservation on; resolves once that is as durable as an acknowledged event. */
  readonly renew: () => Promise<Reserved>
  /** How long a window waits for that; without a limit, if left out. */
  readonly patienceMs?: number
  /** Gets each renewal. */
  readonly report: TaskReport
}

/** A client that polls as often as this never waits for a reservation, and a store without polls is left alone. */
const keptAheadForMs = 120_000
/** After a failure the store is asked again. */
const retryAfterMs = 1_000

const noReservation: Reserved = { moment: 0n, reserved: 0n }

function reservedMs({ moment, reserved }: Reserved): number {
  return Number((reserved - moment) / ticksPerMillisecond)
}

export function timeReservation({ renew, patienceMs, report }: TimeReservationOptions): TimeReservation {
  let current: Reserved = noReservation
  let answeredAtMs = 0
  let renewing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let lastAnsweredMs = 0
  let histories = 0
  let stopped = false

  const ask = async (): Promise<void> => {
    const history = histories
    const askedMs = performance.now()
    const answer = await renew()
    if (history !== histories) return
    current = answer
    answeredAtMs = askedMs
  }
  /** One question at a time: a store that hangs costs one connection, not one for each window. */
  const renewOnce = (): Promise<void> => {
    if (renewing !== undefined) return renewing
    renewing = ask().finally(() => (renewing = undefined))
    void reported(report, 'reserve_time', renewing)
    return renewing
  }
  const wakeAfter = (ms: number): void => {
    timer = setTimeout(() => void keepAhead(), ms)
    timer.unref()
  }
  /** The store moves it when half is gone. Asked after half of what is left, it never comes to less than a quarter. */
  const halfOfRest = (): number => Math.max(0, reservedMs(current) / 2)
  const keepAhead = async (): Promise<void> => {
    const isWanted = performance.now() - lastAnsweredMs < keptAheadForMs
    const waitMs = isWanted ? await renewOnce().then(halfOfRest, () => retryAfterMs) : 0
    timer = undefined
    if (isWanted && !stopped) wakeAfter(waitMs)
  }

  return {
    covers(moment) {
      if (moment > current.reserved) return false
      lastAnsweredMs = performance.now()
      if (timer === undefined && !stopped) wakeAfter(halfOfRest())
      return true
    },
    reserved: () => current.reserved,
    async renewed() {
      const patience = Promise.withResolvers<never>()
      const giveUp = (): void => {
        const cause = new Error('the reservation of time was not moved on in time')
        patience.reject(new StorageFailure('storage_unavailable', cause))
      }
      const limit = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs)
      try {
        await Promise.race([renewOnce(), patience.promise])
      } finally {
        clearTimeout(limit)
      }
    },
    aheadMs: () =>
      current === noReservation ? undefined : reservedMs(current) - (performance.now() - answeredAtMs),
    forget() {
      histories += 1
      current = noReservation
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** Whether an event that is not visible yet could still fall into the query's window (P3). */
export function isOpenWindow(query: LocateQuery, { head }: Pick<Located, 'head'>): boolean {
  if (query.from === undefined && query.to === undefined) return false
  const { created } = head
  // Stamps of a feed rise, so the last event is the only one with its stamp.
  return query.to === undefined || created === undefined || query.to > created + 1n
}
