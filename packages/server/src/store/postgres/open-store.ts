/** From a database's address to a store with the requested schema and settings. */
import { settingsRefusal } from '../settings.ts'
import type { WantedSettings } from '../settings.ts'
import { StorageRefusal } from '../../sql/storage-errors.ts'
import type { StoreSettings } from '../storage.ts'
import { connect } from '../../sql/postgres/connection.ts'
import { failureOf } from '../../sql/postgres/failure.ts'
import { migrate } from './migrate.ts'
import { fillWithSettings, readSettings } from './store-row.ts'

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
