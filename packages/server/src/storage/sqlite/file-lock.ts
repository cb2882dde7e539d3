/** A lock between processes that needs no cleaning up, whatever becomes of the one that holds it. */
import { closeSync, openSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { codeOf } from '../error-code.ts'

export interface FileLock {
  /** Safe to call twice. */
  release(): void
}

/**
 * The locks this process holds. Kept here, because a connection that nothing keeps is closed when garbage is collected, and
 * its lock goes with it. And asked first, because closing any descriptor of a file drops what this process has locked
 * in it.
 */
const held = new Map<string, Database.Database>()

/**
 * Takes the lock a file stands for, or gives back `undefined` when it is taken. The lock is the operating system's, on a
 * small SQLite file, so it goes with the process that held it, however that ended: there is never a stale one to delete.
 * It is held until released, whatever becomes of the value; the file stays. A missing file is made with this `mode`, in
 * a folder that must exist. Throws what the system or SQLite throws when the file cannot be made or locked.
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
