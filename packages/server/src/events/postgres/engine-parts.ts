/** The parts that the verbs of one open database share. */
import type { Ticks } from '@property-events/protocol'
import type { TaskReport } from '../../runtime/background-task.ts'
import { changeCounts } from '../change-counts.ts'
import { floorAfter, readClock } from '../../runtime/clock.ts'
import type { SharedClock } from '../../runtime/clock.ts'
import { defaultClockToleranceTicks } from '../append/decide-append.ts'
import { shownNumbers } from '../shown-numbers.ts'
import type { ShownNumbers } from '../shown-numbers.ts'
import type { StoreSettings } from '../../store/storage.ts'
import { storeObservers } from '../../sql/store-observer.ts'
import type { StoreObservers } from '../../sql/store-observer.ts'
import { timeReservation } from '../time-reservation.ts'
import type { TimeReservation } from '../time-reservation.ts'
import { watchers } from '../watchers.ts'
import type { Watchers } from '../watchers.ts'
import { appender } from './append/append.ts'
import type { AppendContext, Appender } from './append/append.ts'
import { changeNoter } from '../../sql/postgres.ts'
import type { NoteChanges } from '../../sql/postgres.ts'
import { databaseChanges } from './change-notifications.ts'
import type { Changes } from './change-notifications.ts'
import { connect, defaultReadTimeoutMs, isConnectionLoss } from '../../sql/postgres/connection.ts'
import type { ConnectionOptions, Database } from '../../sql/postgres/connection.ts'
import { failureOf } from '../../sql/postgres/failure.ts'
import { rememberedFeeds } from './append/feed-state-cache.ts'
import type { RememberedFeeds } from './append/feed-state-cache.ts'
import { reserveTime, settler } from './settle.ts'
import type { Settler } from './settle.ts'
import { witness } from './witness.ts'
import type { Witness } from './witness.ts'

export interface EngineParts {
  readonly database: Database
  /** Replaces the database's clock, for tests; and the floor of later stamps that follows from it. */
  readonly given: () => Ticks | undefined
  readonly givenFloor: () => Ticks | undefined
  /** Notes a change in the audit. */
  readonly note: NoteChanges
  readonly shown: ShownNumbers
  readonly history: Witness
  readonly remembered: RememberedFeeds
  readonly reservation: TimeReservation
  readonly settle: Settler
  readonly appending: Appender
  readonly appendContext: AppendContext
  readonly watching: Watchers
  readonly changes: Changes
  readonly observers: StoreObservers
}

export interface EngineSetting {
  readonly connections: ConnectionOptions
  readonly settings: StoreSettings
  readonly clock: SharedClock | undefined
  readonly overrideClockCheck: boolean
}

export function engineParts(setting: EngineSetting): EngineParts {
  const { connections, settings, clock, overrideClockCheck } = setting
  const counts = changeCounts()
  const shown = shownNumbers(counts)
  const observers = storeObservers()
  const history = witness(shown, {
    latestAnswered: () => settle.latestAnswered(),
    historyChanged: () => reservation.forget(),
  })
  const remembered = rememberedFeeds()
  const histories = new WeakMap<object, string>()
  const database = connect({
    ...connections,
    observer: observers,
    async onConnect(session, purpose) {
      const met = await history.meet(session)
      histories.set(session.connection, met)
      if (purpose === 'writing') remembered.forgetAll(met)
    },
  })
  const given = (): Ticks | undefined => (clock === undefined ? undefined : readClock(clock))
  const givenFloor = (): Ticks | undefined => {
    const now = given()
    return now && floorAfter(now)
  }
  const reservation = databaseReservation(database, given, observers, connections.readTimeoutMs)
  const settle = settler(database, reservation, givenFloor)
  const watching = watchers(counts)
  const appendContext: AppendContext = {
    catalogue: settings.catalogue,
    clockToleranceTicks: overrideClockCheck ? undefined : defaultClockToleranceTicks,
    now: given,
    remembered,
    historyOf: ({ connection }) => histories.get(connection) ?? '',
    observer: observers,
    vouch: () => database.write((session) => history.vouch(session)),
  }
  return {
    database,
    given,
    givenFloor,
    note: changeNoter(given),
    shown,
    history,
    remembered,
    reservation,
    settle,
    appending: appender(database, appendContext),
    appendContext,
    watching,
    changes: databaseChanges(database, watching, (key) => remembered.forget([key]), observers),
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
