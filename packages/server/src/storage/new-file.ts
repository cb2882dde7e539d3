/** The file of a backup, of whatever engine. */
import { existsSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StorageRefusal } from './storage.ts'

/**
 * Has the file written beside its place, into an empty one that only its owner can read, flushes it, and only then gives it its
 * name: a name always stands for a whole file. Rejects with the `StorageRefusal` `already_exists` rather than replace one.
 */
export async function writeNewFile(path: string, write: (partial: string) => Promise<void>): Promise<void> {
  if (existsSync(path)) throw alreadyExists(path)
  const partial = `${path}.${process.pid}.partial`
  const empty = await open(partial, 'wx', 0o600)
  try {
    await empty.close()
    await write(partial)
    await flush(partial, 'r+')
    await giveName(partial, path)
    // Windows has no flush for folders.
    if (process.platform !== 'win32') await flush(dirname(path), 'r')
  } finally {
    await rm(partial, { force: true })
  }
}

/** A hard link never replaces a file. Where there are none (FAT), a rename after a look is the next best. */
async function giveName(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path)
  } catch {
    if (existsSync(path)) throw alreadyExists(path)
    await rename(partial, path)
  }
}

async function flush(path: string, mode: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, mode)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function alreadyExists(path: string): StorageRefusal {
  return new StorageRefusal(
    'already_exists',
    `${path} exists; a backup never replaces a file. Name another, or move it away.`,
  )
}
