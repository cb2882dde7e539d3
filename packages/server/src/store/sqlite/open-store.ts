/** From a data folder to a store's file with the requested schema and settings. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Ticks } from '@property-events/protocol'
import { pepperFileName } from '../../runtime/files.ts'
import { codeOf, StorageRefusal } from '../../sql/storage-errors.ts'
import { settingsRefusal } from '../settings.ts'
import type { NewSettings, RequestedSettings } from '../settings.ts'
import type { StoreSettings } from '../storage.ts'
import { connectForWriting, makeStoreFile, storeFileOf } from '../../sql/sqlite/connection.ts'
import { failureOf } from '../../sql/sqlite/failure.ts'
import { readReservation, readSettings, recordSettings } from './meta.ts'
import { migrate, notAStore } from './migrate.ts'

interface OpenedStore {
  readonly file: string
  readonly settings: StoreSettings
  /** No stamp may be before this: windows may have been answered until then (P3). */
  readonly reservedUntil: Ticks
}

/** Throws a `StorageRefusal` or a `StorageFailure`. A refused file is left as it was. */
export async function openStore(
  folder: string,
  create: boolean,
  wanted: RequestedSettings,
): Promise<OpenedStore> {
  const file = storeFileOf(folder)
  try {
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? {}
    if (size === 0 && existsSync(join(folder, pepperFileName))) throw emptied(file)
    if (size === undefined || size === 0) {
      if (!create) throw notAStore(file)
      if (wanted.catalogue === undefined) {
        throw new StorageRefusal(
          'not_a_store',
          `A new store in ${file} needs a catalogue of event types; name one.`,
        )
      }
      makeStoreFile(file)
    }
    return { file, ...(await settle(file, create ? newSettings(wanted) : undefined, wanted)) }
  } catch (error) {
    if (codeOf(error) === 'SQLITE_NOTADB') throw notAStore(file)
    throw failureOf(error, file)
  }
}

/** A pepper is made only when there is a store, so there was one; a new store in its place would begin again at number 1. */
function emptied(file: string): StorageRefusal {
  return new StorageRefusal(
    'not_a_store',
    `${file} is empty (0 bytes), and the key pepper beside it says that it was a store. Keep the folder as it is and restore ` +
      'the last backup into an empty one; for a new store, name another folder.',
  )
}

async function settle(
  file: string,
  forNew: NewSettings | undefined,
  wanted: RequestedSettings,
): Promise<Omit<OpenedStore, 'file'>> {
  const db = connectForWriting({ file })
  try {
    await migrate(db, forNew && (() => recordSettings(db, forNew)))
    const recorded = readSettings(db)
    const refusal = settingsRefusal(recorded, wanted)
    if (refusal !== undefined) throw refusal
    return { settings: recorded, reservedUntil: readReservation(db) }
  } finally {
    db.close()
  }
}

function newSettings({ catalogue, startSequence = 0 }: RequestedSettings): NewSettings | undefined {
  return catalogue && { catalogue, startSequence }
}
