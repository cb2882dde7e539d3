/** From SQLite's result codes to the few failures the port knows. */
import Database from 'better-sqlite3'
import { StorageFailure, StorageRefusal } from '../storage.ts'

/**
 * What SQLite answers when the disk, or the size an operator has set, is used up. A write that fails half-way is
 * reported as an input/output error, and growing the WAL index on a full disk as one of its own.
 */
const fullCodes = new Set(['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE'])

export function failureOf(error: unknown): StorageFailure | StorageRefusal {
  if (error instanceof StorageFailure || error instanceof StorageRefusal) return error
  if (error instanceof Database.SqliteError && fullCodes.has(error.code)) {
    return new StorageFailure('storage_full', error)
  }
  return new StorageFailure(isNoSpace(error) ? 'storage_full' : 'storage_unavailable', error)
}

function isNoSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}
