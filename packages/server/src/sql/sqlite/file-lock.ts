/** A lock between processes that needs no cleaning up, whatever happens to its holder. */
import { closeSync, openSync, realpathSync, existsSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { codeOf } from '../storage-errors.ts'

export interface FileLock {
  /** Safe to call twice. */
  release(): void
}

/**
 * The locks this process holds. They are kept here, because garbage collection closes an unreferenced connection, and its lock goes with
 * it. They are also checked first, because closing any descriptor of a file drops what this process has locked in it.
 */
const held = new Map<string, Database.Database>()

/**
 * Takes the lock on a file, or returns `undefined` if it is taken. The lock is the operating system's, on a small SQLite file, so it ends
 * with the process that held it, however that ended: there is never a stale one to delete. It is held until released, whatever happens to
 * the returned value; the file stays. A missing file is created with this `mode`, in a folder that must exist. Throws what the system or
 * SQLite throws if the file cannot be made or locked.
 */
export function takeFileLock(path: string, mode: number): FileLock | undefined {
  const file = join(realpathSync(dirname(path)), basename(path))
  if (held.has(file)) return undefined
  closeSync(openSync(file, 'a', mode))
  const db = new Database(file, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (codeOf(error)?.startsWith('SQLITE_BUSY') !== true) throw error
    return undefined
  }
  held.set(file, db)
  return {
    release() {
      if (held.get(file) === db) held.delete(file)
      db.close()
    },
  }
}

/**
 * Makes a folder that only its owner can enter, with its missing parents. Not `mkdirSync(…, { recursive })`: below /proc, where a missing
 * folder is refused with ENOENT, that tries for ever (seen with Node 26.10).
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it in between.
    if (!existsSync(folder)) throw error
  }
}
