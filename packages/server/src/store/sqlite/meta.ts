/** The table of single values. */
import { catalogueFault } from '@property-events/protocol/plain'
import type { EventTypeCatalogue, Ticks } from '@property-events/protocol'
import { catalogueText } from '../settings.ts'
import type { NewSettings } from '../settings.ts'
import type { StoreSettings } from '../storage.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { readClock } from '../../runtime/clock.ts'
import type { SharedClock } from '../../runtime/clock.ts'
import { renewedBelowTicks, reservedAheadTicks } from '../../events/time-reservation.ts'
import type { Reserved } from '../../events/time-reservation.ts'

type MetaName = 'store_id' | 'catalogue' | 'start_sequence' | 'first_offset' | 'needs_epoch'

/** Ticks: windows may have been answered up to this time (P3). Missing if none was. */
type ReservationName = 'reserved_until'

interface Meta {
  get(name: MetaName): string
  /** For a value that not every store has. */
  find(name: MetaName | ReservationName): string | undefined
  set(name: MetaName | ReservationName, value: string): void
}

export function metaOf(db: Connection): Meta {
  const select = db.prepare<[string], string>('SELECT value FROM meta WHERE name = ?').pluck()
  return {
    get(name) {
      const value = select.get(name)
      if (value === undefined) throw new Error(`the store's meta table lacks ${name}`)
      return value
    },
    find: (name) => select.get(name),
    set(name, value) {
      db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value').run(
        name,
        value,
      )
    },
  }
}

export function recordSettings(db: Connection, settings: NewSettings): void {
  const meta = metaOf(db)
  meta.set('store_id', crypto.randomUUID())
  meta.set('catalogue', catalogueText(settings.catalogue))
  meta.set('start_sequence', String(settings.startSequence))
  meta.set('first_offset', String(settings.startSequence))
  meta.set('needs_epoch', '0')
}

export function readSettings(db: Connection): StoreSettings {
  const meta = metaOf(db)
  const catalogue: EventTypeCatalogue = JSON.parse(meta.get('catalogue'))
  const fault = catalogueFault(catalogue)
  if (fault !== undefined) throw new Error(`the store's catalogue is damaged: ${fault}`)
  return {
    storeId: meta.get('store_id'),
    catalogue,
    startSequence: Number(meta.get('start_sequence')),
  }
}

/** The reservation of time in the store's file: a row of `meta`, committed with a flush like an event (P3, P7). */
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
