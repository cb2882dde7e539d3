/** From a database's address to a store with the requested schema and settings. */
import { catalogueFault } from '@property-events/protocol'
import type { EventTypeCatalogue } from '@property-events/protocol'
import { settingsRefusal, catalogueText } from '../settings.ts'
import type { WantedSettings, NewSettings } from '../settings.ts'
import { StorageRefusal } from '../../sql/storage-errors.ts'
import type { StoreSettings } from '../storage.ts'
import { connect } from '../../sql/postgres/connection.ts'
import { failureOf } from '../../sql/postgres/failure.ts'
import { migrate } from './migrate.ts'
import type { Session, Statement } from '../../sql/postgres/session.ts'
import type { FillStore } from './migrate.ts'

/** Rejects with a `StorageRefusal` or a `StorageFailure`. A refused database is left as it was. */
export async function openStore(
  url: string,
  create: boolean,
  wanted: WantedSettings,
  onWaiting?: (reason: string) => void,
): Promise<StoreSettings> {
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new StorageRefusal(
      'not_a_store',
      'The address of a database begins with postgres:// or postgresql://.',
    )
  }
  const database = connect({ url, readConnections: 1 })
  try {
    const { catalogue, startSequence = 0 } = wanted
    const fill =
      create && catalogue !== undefined ? fillWithSettings({ catalogue, startSequence }) : undefined
    await migrate(database, fill, { onWaiting })
    const recorded = await database.write(readSettings)
    const refusal = settingsRefusal(recorded, wanted)
    if (refusal !== undefined) throw refusal
    return recorded
  } catch (error) {
    throw failureOf(error)
  } finally {
    await database.close()
  }
}

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

async function readSettings(session: Session): Promise<StoreSettings> {
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
