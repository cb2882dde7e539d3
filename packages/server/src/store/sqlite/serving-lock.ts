/** Only one process serves a data folder: two writers' threads could not keep P3 for each other's readers. */
import { join } from 'node:path'
import { StorageRefusal } from '../../sql/storage-errors.ts'
import { failureOf } from '../../sql/sqlite/failure.ts'
import { takeFileLock } from '../../sql/sqlite/file-lock.ts'
import type { FileLock } from '../../sql/sqlite/file-lock.ts'
import { makeFolder } from '../../sql/sqlite/make-folder.ts'

/**
 * Takes the folder for serving, or returns why not (`in_use`). Commands that make keys or backups do not take it. Throws a
 * `StorageFailure` if the folder cannot be written.
 */
export function acquireServingLock(dataFolder: string): FileLock | StorageRefusal {
  try {
    makeFolder(dataFolder)
    return takeFileLock(join(dataFolder, 'serve.lock'), 0o600) ?? inUse(dataFolder)
  } catch (error) {
    throw failureOf(error)
  }
}

function inUse(dataFolder: string): StorageRefusal {
  return new StorageRefusal(
    'in_use',
    `Another process is serving the data folder ${dataFolder}. Stop it first, or name another folder with --data.`,
  )
}
