/** From PostgreSQL's error codes to the few failures the port knows. */
import { DatabaseError } from 'pg'
import { StorageFailure, StorageRefusal } from '../storage.ts'

/** `disk_full`, and what PostgreSQL says when it cannot extend a file. */
const fullCodes = new Set(['53100'])

/** `data_corrupted` and `index_corrupted`: a page whose checksum is wrong, where the cluster has data checksums. */
const damagedCodes = new Set(['XX001', 'XX002'])

export function failureOf(error: unknown): StorageFailure | StorageRefusal {
  if (error instanceof StorageFailure || error instanceof StorageRefusal) return error
  const code = error instanceof DatabaseError ? (error.code ?? '') : ''
  if (fullCodes.has(code)) return new StorageFailure('storage_full', error)
  return new StorageFailure(damagedCodes.has(code) ? 'storage_damaged' : 'storage_unavailable', error)
}
