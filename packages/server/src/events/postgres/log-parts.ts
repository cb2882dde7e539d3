/** The parts of the log that the verbs of one open database share. */
import { millisecondsOfTicks } from '@property-events/protocol'
import type { EventTypeCatalogue, Ticks } from '@property-events/protocol'
import type { TaskReport } from '../../runtime/background-task.ts'
import { changeCounts, watchers } from '../watchers.ts'
import { floorAfter, readClock } from '../../runtime/clock.ts'
import type { SharedClock } from '../../runtime/clock.ts'
import { defaultClockToleranceTicks } from '../append/decide-append.ts'
import { shownNumbers } from '../shown-numbers.ts'
import type { ShownNumbers } from '../shown-numbers.ts'
import { storeObservers } from '../../sql/store-observer.ts'
import type { StoreObservers } from '../../sql/store-observer.ts'
import { timeReservation } from '../time-reservation.ts'
import type { TimeReservation } from '../time-reservation.ts'
import type { Watchers } from '../watchers.ts'
import { appender } from './append/append.ts'
import type { AppendContext, Appender } from './append/append.ts'
import { databaseChanges } from './change-notifications.ts'
import type { Changes } from './change-notifications.ts'
import { connect, defaultReadTimeoutMs, isConnectionLoss } from '../../sql/postgres/connection.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { ConnectionOptions } from '../../sql/postgres/pool.ts'
import { failureOf } from '../../sql/postgres/failure.ts'
import { feedStateCache } from './append/feed-state-cache.ts'
import type { FeedStateCache } from './append/feed-state-cache.ts'
import { recentEvents } from './recent-events.ts'
import type { RecentEvents } from './recent-events.ts'
import { reserveTime, settler } from './settle.ts'
import type { Settler } from './settle.ts'
import { witness } from './witness.ts'
import type { Witness } from './witness.ts'

export interface LogParts {
  readonly database: Database
  /** Replaces the database's clock, for tests; and the floor of later stamps that follows from it. */
  readonly given: () => Ticks | undefined
  /** The same in milliseconds since 1970; `null`: the database's clock. */
  readonly givenMs: () => number | null
  readonly givenFloor: () => Ticks | undefined
  readonly shown: ShownNumbers
  readonly history: Witness
  readonly feedStates: FeedStateCache
  readonly recent: RecentEvents
  readonly reservation: TimeReservation
  readonly settle: Settler
  readonly appending: Appender
  readonly appendContext: AppendContext
  readonly watching: Watchers
  readonly changes: Changes
  readonly observers: StoreObservers
}

export interface LogSettings {
  readonly connections: ConnectionOptions
  readonly catalogue: EventTypeCatalogue
  readonly clock: SharedClock | undefined
  readonly overrideClockCheck: boolean
}

export function logParts(setting: LogSettings): LogParts {
  const { connections, catalogue, clock, overrideClockCheck } = setting
  const counts = changeCounts()
  const shown = shownNumbers(counts)
  const observers = storeObservers()
  const history = witness(shown, {
    latestAnswered: () => settle.latestAnswered(),
    historyChanged: () => reservation.forget(),
  })
  const recent = recentEvents()
  const feedStates = feedStateCache(recent)
  const histories = new WeakMap<object, string>()
  const database = connect({
    ...connections,
    observer: observers,
    async onConnect(session, purpose) {
      const met = await history.meet(session)
      histories.set(session.connection, met)
      if (purpose === 'writing') feedStates.forgetAll(met)
    },
  })
  const given = (): Ticks | undefined => (clock === undefined ? undefined : readClock(clock))
  const givenMs = (): number | null => (clock === undefined ? null : millisecondsOfTicks(readClock(clock)))
  const givenFloor = (): Ticks | undefined => {
    const now = given()
    return now && floorAfter(now)
  }
  const reservation = databaseReservation(database, given, observers, connections.readTimeoutMs)
  const settle = settler(database, reservation, givenFloor)
  const watching = watchers(counts)
  const appendContext: AppendContext = {
    catalogue,
    clockToleranceTicks: overrideClockCheck ? undefined : defaultClockToleranceTicks,
    now: given,
    feedStates,
    historyOf: ({ connection }) => histories.get(connection) ?? '',
    observer: observers,
    vouch: () => database.write((session) => history.vouch(session)),
  }
  return {
    database,
    given,
    givenMs,
    givenFloor,
    shown,
    history,
    feedStates,
    recent,
    reservation,
    settle,
    appending: appender(database, appendContext),
    appendContext,
    watching,
    changes: databaseChanges(database, watching, (key) => feedStates.forget([key]), observers),
    observers,
  }
}

function databaseReservation(
  database: Database,
  given: () => Ticks | undefined,
  report: TaskReport,
  patienceMs = defaultReadTimeoutMs,
): TimeReservation {
  const reserve = () => database.write((session) => reserveTime(session, given()))
  return timeReservation({
    // A second call may move it a second time, which does no harm.
    renew: () =>
      reserve()
        .catch((error: unknown) => (isConnectionLoss(error) ? reserve() : Promise.reject(error)))
        .catch((error: unknown) => Promise.reject(failureOf(error))),
    patienceMs,
    report,
  })
}

/** Runs it when all earlier runs that name one of these feeds have ended, successfully or not. */
export type InFeedQueues = <T>(names: readonly string[], run: () => Promise<T>) => Promise<T>

export function feedQueues(): InFeedQueues {
  /** The last run of each feed that has not ended. It never rejects. */
  const lastOf = new Map<string, Promise<void>>()
  return (names, run) => {
    const earlier = names.flatMap((name) => lastOf.get(name) ?? [])
    const turn = earlier.length === 0 ? run() : Promise.all(earlier).then(run)
    const ended: Promise<void> = turn.then(
      () => leave(),
      () => leave(),
    )
    const leave = (): void => {
      for (const name of names) if (lastOf.get(name) === ended) lastOf.delete(name)
    }
    for (const name of names) lastOf.set(name, ended)
    return turn
  }
}
