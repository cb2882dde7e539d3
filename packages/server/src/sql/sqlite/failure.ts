/** From SQLite's and the system's error codes to the few failures the port knows. */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { codeOf, StorageFailure, StorageRefusal } from '../storage-errors.ts'

/** The disk, a quota, or the maximum size set by the operator is used up. */
const fullCodes = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT'])

/** Writes that failed for any reason, including a quota. Growing the WAL's index on a full disk is a reason of its own. */
const writeCodes = new Set(['SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE'])

/**
 * `file`: the store's file, if its folder may be written to. SQLite does not say why a write failed, so a few bytes are then written
 * beside it to find out: a broken disk is not a full one, nor the other way round.
 */
export function failureOf(error: unknown, file?: string): StorageFailure | StorageRefusal {
  if (error instanceof StorageFailure || error instanceof StorageRefusal) return error
  const code = codeOf(error) ?? ''
  const seen = file !== undefined && writeCodes.has(code) ? writeFault(file) : undefined
  const failureCode = failureCodeOf(seen ?? code)
  const isOfBatches = failureCode === 'storage_damaged' || isAboutValues(error, code)
  return new StorageFailure(failureCode, error, isOfBatches ? 'batches' : 'store')
}

/** Whether it was thrown because of a value or a rule, by SQLite or before it, and so before the transaction ended. */
function isAboutValues(error: unknown, code: string): boolean {
  if (code === '') return error instanceof Error
  return /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)|^ERR_/.test(code)
}

function failureCodeOf(code: string): StorageFailure['code'] {
  if (fullCodes.has(code)) return 'storage_full'
  // SQLite's own structure is broken: a page that leads nowhere, an invalid header.
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB'
    ? 'storage_damaged'
    : 'storage_unavailable'
}

/** More than the few blocks that some file systems still have when they are full. */
const triedBytes = 256 * 1_024

/** The system's code if the folder takes no more bytes; `undefined` if it does. */
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
