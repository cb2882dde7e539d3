/** From PostgreSQL's error codes to the few failures the port knows. */
import { DatabaseError } from 'pg'
import { StorageFailure, StorageRefusal } from '../storage-errors.ts'

/** `disk_full`, the code of PostgreSQL when it cannot extend a file. */
const fullCodes = new Set(['53100'])

/** Raised by `settle_window`. */
const movingCode = 'PE001'

/** `data_corrupted` and `index_corrupted`: a page with a wrong checksum, if the cluster has data checksums. */
const damagedCodes = new Set(['XX001', 'XX002'])

/** `lock_not_available`: the wait for a lock has reached `lock_timeout`. */
const lockedCode = '55P03'

/** Classes of errors about what was sent, and not about the server, the connection or the time it took. */
const aboutValues = /^(2[1-3]|44|54|P0)/

export function failureOf(error: unknown): StorageFailure | StorageRefusal {
  if (error instanceof StorageFailure || error instanceof StorageRefusal) return error
  const code = error instanceof DatabaseError ? (error.code ?? '') : ''
  if (code === movingCode) return new StorageFailure('tenant_moving', error)
  if (fullCodes.has(code)) return new StorageFailure('storage_full', error)
  if (damagedCodes.has(code)) return new StorageFailure('storage_damaged', error, 'batches')
  if (code === lockedCode) return new StorageFailure('feed_locked', error)
  return new StorageFailure('storage_unavailable', error, isAboutValues(error) ? 'batches' : 'store')
}

/** True if a statement failed because of its values or its result: nothing of it is stored. */
function isAboutValues(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code !== undefined && aboutValues.test(error.code)
  return error instanceof TypeError || error instanceof RangeError
}

/** True if the server has refused one statement, for its values or for a lock, and its session is still usable. */
export function isOfStatement(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === lockedCode || isAboutValues(error))
}
