/** Only one process serves a data folder: two writers' threads could not keep P3 for each other's readers. */
import { closeSync, openSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { StorageRefusal } from '../storage.ts'
import { codeOf, failureOf } from './failure.ts'
import { makeFolder } from './make-folder.ts'

export interface ServingLock {
  /** Safe to call twice. */
  release(): void
}

/**
 * The locks this process holds. Kept here, because a connection nobody keeps is closed when garbage is collected, and
 * its lock goes with it. And asked first, because closing any descriptor of a file drops what this process has locked
 * in it.
 */
const held = new Map<string, Database.Database>()

/**
 * Takes the folder for serving, or says why not (`in_use`). The lock is the operating system's, on a small SQLite file,
 * so it goes with the process that held it, however that ended: there is never a stale one to delete. Commands that
 * make keys or backups do not take it. It is held until released, whatever becomes of the value. Throws a `StorageFailure` when the folder cannot be written.
 */
export function acquireServingLock(dataFolder: string): ServingLock | StorageRefusal {
  let file: string
  try {
    makeFolder(dataFolder)
    file = join(realpathSync(dataFolder), 'serve.lock')
    if (held.has(file)) return inUse(dataFolder)
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    throw failureOf(error)
  }
  const db = new Database(file, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (codeOf(error)?.startsWith('SQLITE_BUSY') !== true) throw failureOf(error)
    return inUse(dataFolder)
  }
  held.set(file, db)
  return {
    release() {
      if (held.get(file) === db) held.delete(file)
      db.close()
    },
  }
}

function inUse(dataFolder: string): StorageRefusal {
  return new StorageRefusal(
    'in_use',
    `Another process is serving the data folder ${dataFolder}. Stop it first, or name another folder with --data.`,
  )
}
