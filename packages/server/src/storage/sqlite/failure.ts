/** From SQLite's and the system's error codes to the few failures the port knows. */
import { StorageFailure, StorageRefusal } from '../storage.ts'

/**
 * What is answered when the disk, a quota, or the size an operator has set is used up. SQLite reports a write that
 * fails half-way as an input/output error, and growing the WAL index on a full disk as one of its own.
 */
const fullCodes = new Set(['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'])

export function failureOf(error: unknown): StorageFailure | StorageRefusal {
  if (error instanceof StorageFailure || error instanceof StorageRefusal) return error
  const code = codeOf(error)
  return new StorageFailure(
    code !== undefined && fullCodes.has(code) ? 'storage_full' : 'storage_unavailable',
    error,
  )
}

/** The code of an error, whatever its class: one that comes from another thread has lost it. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
