/** The reservation of time in the store's file: a row of `meta`, committed with a flush like an event (P3, P7). */
import type { Ticks } from '@property-events/protocol'
import { readClock } from '../../runtime/clock.ts'
import type { SharedClock } from '../../runtime/clock.ts'
import { renewedBelowTicks, reservedAheadTicks } from '../../events/time-reservation.ts'
import type { Reserved } from '../../events/time-reservation.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { metaOf } from './meta.ts'

interface StoredReservation {
  /** Moves the reservation to 10 s from now, unless 5 s are left of what was reserved here. */
  reserve(): Reserved
  /** No window was answered after this moment, nor will be here: the rest is given back, unless another process has reserved more. */
  giveBack(answered: Ticks): void
}

/** The time until which time is reserved: no stamp may be before it if it is unknown how far windows were answered. */
export function readReservation(db: Connection): Ticks {
  return BigInt(metaOf(db).find('reserved_until') ?? 0)
}

/** At least this long, from now on. */
export function raiseReservation(db: Connection, until: Ticks): void {
  if (until > readReservation(db)) metaOf(db).set('reserved_until', String(until))
}

export function storedReservation(db: Connection, clock: SharedClock | undefined): StoredReservation {
  const meta = metaOf(db)
  /**
   * The value written here. It always differs from the previous one, so that reservations of other processes can be distinguished from
   * it.
   */
  let own: Ticks | undefined

  const renew = db.transaction((moment: Ticks): Ticks => {
    const [held, wanted] = [readReservation(db), moment + reservedAheadTicks]
    const reserved = wanted > held ? wanted : held + 1n
    meta.set('reserved_until', String(reserved))
    return reserved
  })
  const lower = db.transaction((answered: Ticks): void => {
    if (own !== undefined && own === readReservation(db)) meta.set('reserved_until', String(answered))
  })

  return {
    reserve() {
      const moment = readClock(clock)
      if (own === undefined || own - moment < renewedBelowTicks) own = renew.immediate(moment)
      return { moment, reserved: own }
    },
    giveBack(answered) {
      if (own !== undefined) lower.immediate(answered)
    },
  }
}
