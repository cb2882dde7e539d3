import { existsSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const inMemory = '/dev/shm'
/** A container often has 64 MB there, which is less than a run of the tests needs. */
const enoughBytes = 2 ** 30

/** A new folder in memory where the system has room for it there, otherwise beside its other temporary files: no test waits for the disk. */
export function makeFolderInMemory(): string {
  return mkdtempSync(join(hasRoom() ? inMemory : tmpdir(), 'property-events-tests-'))
}

function hasRoom(): boolean {
  if (!existsSync(inMemory)) return false
  const { bavail, bsize } = statfsSync(inMemory)
  return bavail * bsize >= enoughBytes
}
