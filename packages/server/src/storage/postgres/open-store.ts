/** From a database's address to a store with the requested schema and settings. */
import { settingsRefusal } from '../settings.ts'
import type { WantedSettings } from '../settings.ts'
import { StorageRefusal } from '../storage.ts'
import type { StoreSettings } from '../storage.ts'
import { fillFromBackup } from './backup.ts'
import { connect } from './connection.ts'
import type { PostgresOptions } from './engine.ts'
import { failureOf } from './failure.ts'
import { migrate } from './migrate.ts'
import type { FillStore } from './migrate.ts'
import { fillWithSettings, readSettings } from './store-row.ts'

/** Rejects with a `StorageRefusal` or a `StorageFailure`. A refused database is left as it was. */
export async function openStore(
  { url, file, onFilled }: Pick<PostgresOptions, 'url' | 'file' | 'onFilled'>,
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
    const fill: FillStore | undefined =
      file !== undefined
        ? await fillFromBackup(file, onFilled)
        : create && catalogue !== undefined
          ? fillWithSettings({ catalogue, startSequence })
          : undefined
    const filled = await migrate(database, fill, { onWaiting })
    if (file !== undefined && !filled) {
      throw new StorageRefusal(
        'already_exists',
        'A backup is only read into an empty database; this one holds a store.',
      )
    }
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
