/** Locates in windows that are still open (P3): they are read once nothing stamped waits for its commit. */
import type { Ticks } from '@property-events/protocol'
import type { TaskReport } from '../../../runtime/background-task.ts'
import { floorAfter, readClock } from '../../../runtime/clock.ts'
import type { SharedClock } from '../../../runtime/clock.ts'
import { isOpenWindow, timeReservation } from '../../time-reservation.ts'
import { StorageFailure } from '../../../sql/storage-errors.ts'
import type { LocateQuery, Located } from '../../event-log.ts'
import type { Reserved } from '../../time-reservation.ts'
import type { CommitLine } from '../commit-line.ts'
import type { Connection } from '../../../sql/sqlite/connection.ts'
import { locator } from './locate.ts'
import type { OnWriter } from '../../../sql/sqlite.ts'

/** The writer's verbs about time (P3). */
export interface TimeWrites {
  /** Extends the reservation of time, if necessary, and answers when that is on disk. */
  reserveTime(): Reserved
  /** Answered after all commits that were under way when it was asked. */
  settled(): void
}

export interface OpenWindowLocator {
  /** Like `EventStore.locate`: an open window is read once nothing stamped waits for its commit (P3). */
  locate(query: LocateQuery): Promise<Located | undefined>
  /** How far ahead time is reserved, as far as is known here. */
  reservedMs(): number | undefined
  /** No time is reserved any more. */
  stop(): void
}

export function openWindowLocator(
  db: Connection,
  clock: SharedClock | undefined,
  line: CommitLine,
  writer: OnWriter<TimeWrites>,
  report: TaskReport,
): OpenWindowLocator {
  const locateNow = locator(db)
  const reservation = timeReservation({ renew: () => writer.reserveTime(), report })

  /** Returns the time once the store will remember, after a crash, that windows were answered until then. */
  const reservedNow = async (): Promise<Ticks> => {
    for (;;) {
      const now = readClock(clock)
      if (reservation.covers(floorAfter(now))) return now
      try {
        await reservation.renewed()
      } catch (error) {
        // Reading continues if nothing can be written, for example on a full disk (docs/decisions/0013).
        if (!(error instanceof StorageFailure) || error.code === 'storage_closed') throw error
        return now
      }
    }
  }

  return {
    async locate(query) {
      const located = locateNow(query)
      if (located === undefined || !isOpenWindow(query, located)) return located
      const now = await reservedNow()
      // Without a writer, nothing stamped waits for its commit, so an error is as good as an answer.
      if (!line.ask(now)) await writer.settled().catch(() => undefined)
      const settled = locateNow(query)
      return settled && { ...settled, settled: floorAfter(now) }
    },
    reservedMs: () => reservation.aheadMs(),
    stop: () => reservation.stop(),
  }
}
