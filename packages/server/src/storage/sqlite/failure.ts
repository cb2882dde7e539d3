/** From SQLite's and the system's error codes to the few failures the port knows. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { codeOf } from '../error-code.ts'
import { StorageFailure, StorageRefusal } from '../storage.ts'

/** The disk, a quota, or the size an operator has set is used up. */
const fullCodes = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT'])

/** A write that failed for whatever reason, a quota among them; growing the index of the WAL on a full disk is one of its own. */
const writeCodes = new Set(['SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE'])

/**
 * `file`: the store's, where its folder may be written to. SQLite does not tell why a write failed; then a few bytes are
 * written beside it to see, because a broken disk is not one without room (nor the other way round).
 */
export function failureOf(error: unknown, file?: string): StorageFailure | StorageRefusal {
  if (error instanceof StorageFailure || error instanceof StorageRefusal) return error
  const code = codeOf(error) ?? ''
  const seen = file !== undefined && writeCodes.has(code) ? writeFault(file) : undefined
  const failureCode = failureCodeOf(seen ?? code)
  const isOfBatches = failureCode === 'storage_damaged' || isAboutValues(error, code)
  return new StorageFailure(failureCode, error, isOfBatches ? 'batches' : 'store')
}

/** Whether it was thrown for a value or a rule, by SQLite or on the way there, and so before the transaction ended. */
function isAboutValues(error: unknown, code: string): boolean {
  if (code === '') return error instanceof Error
  return /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)|^ERR_/.test(code)
}

function failureCodeOf(code: string): StorageFailure['code'] {
  if (fullCodes.has(code)) return 'storage_full'
  // SQLite's own structure is broken: a page that leads nowhere, a header that is none.
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB'
    ? 'storage_damaged'
    : 'storage_unavailable'
}

/** More than the few blocks that some file systems still have when they are full. */
const triedBytes = 256 * 1_024

/** The system's code when the folder takes no more bytes; `undefined` when it does. */
function writeFault(file: string): string | undefined {
  const path = `${file}.${process.pid}.write-test`
  try {
    const descriptor = openSync(path, 'w', 0o600)
    try {
      const written = writeSync(descriptor, Buffer.alloc(triedBytes))
      fsyncSync(descriptor)
      return written < triedBytes ? 'ENOSPC' : undefined
    } finally {
      closeSync(descriptor)
      rmSync(path, { force: true })
    }
  } catch (error) {
    return codeOf(error)
  }
}
