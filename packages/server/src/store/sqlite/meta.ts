/** The table of single values. */
import { catalogueFault } from '@property-events/protocol/plain'
import type { EventTypeCatalogue } from '@property-events/protocol'
import { catalogueText } from '../settings.ts'
import type { NewSettings } from '../settings.ts'
import type { StoreSettings } from '../storage.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'

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
