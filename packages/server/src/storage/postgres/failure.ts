/** From PostgreSQL's error codes to the few failures the port knows. */
import { DatabaseError } from 'pg'
import { StorageFailure, StorageRefusal } from '../storage.ts'

/** `disk_full`, and what PostgreSQL says when it cannot extend a file. */
const fullCodes = new Set(['53100'])

export function failureOf(error: unknown): StorageFailure | StorageRefusal {
  if (error instanceof StorageFailure || error instanceof StorageRefusal) return error
  const full = error instanceof DatabaseError && error.code !== undefined && fullCodes.has(error.code)
  return new StorageFailure(full ? 'storage_full' : 'storage_unavailable', error)
}
