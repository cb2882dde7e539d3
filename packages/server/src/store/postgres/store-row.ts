/** The one row with the state of the whole store. */
import { catalogueFault } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'
import { catalogueText } from '../settings.ts'
import type { NewSettings } from '../settings.ts'
import type { StoreSettings } from '../storage.ts'
import type { Session, Statement } from '../../sql/postgres/connection.ts'
import type { FillStore } from './migrate.ts'

const insert: Statement = {
  name: 'store-insert',
  text: `INSERT INTO store (store_id, schema_version, catalogue, start_sequence, first_offset, needs_epoch, incarnation,
      replicated)
    VALUES (gen_random_uuid(), 1, $1, $2, $2, false, incarnation(), commits_are_replicated())`,
}

const select: Statement = {
  name: 'store-settings',
  text: 'SELECT store_id, catalogue, start_sequence FROM store',
}

/** A new store with nothing but its settings. */
export function fillWithSettings({ catalogue, startSequence }: NewSettings): FillStore {
  return async (session) => {
    await session.query(insert, [catalogueText(catalogue), startSequence])
  }
}

export async function readSettings(session: Session): Promise<StoreSettings> {
  const [row] = await session.query<{ store_id: string; catalogue: string; start_sequence: string }>(
    select,
    [],
  )
  if (row === undefined) throw new Error('the store has no settings')
  const catalogue: EventTypeCatalogue = JSON.parse(row.catalogue)
  const fault = catalogueFault(catalogue)
  if (fault !== undefined) throw new Error(`the store's catalogue is damaged: ${fault}`)
  return { storeId: row.store_id, catalogue, startSequence: Number(row.start_sequence) }
}
