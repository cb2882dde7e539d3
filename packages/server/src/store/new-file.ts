/** A new file that is there as a whole or not at all: a backup, an export. */
import { existsSync } from 'node:fs'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf, StorageRefusal } from '../sql/storage-errors.ts'

/** The suffix of a file that is being written. No other program names files like this, so a leftover can be removed without checking. */
const partialSuffix = '.property-events-partial'
/** Such a file, and the files that SQLite keeps next to a store. */
const leftoverPattern = /\.(\d+)\.property-events-partial(?:-wal|-shm|-journal)?$/

/** Where this process writes the file of this name until it is complete. A killed process leaves it there. */
export function partialPathOf(path: string): string {
  return `${path}.${process.pid}${partialSuffix}`
}

/**
 * Has the file written next to its place, into an empty one that only its owner can read, flushes it, and only then gives it its name: a
 * name always belongs to a complete file. Removes what killed processes have left in the folder. Rejects with the `StorageRefusal`
 * `already_exists` rather than replace a file.
 */
export async function writeNewFile(path: string, write: (partial: string) => Promise<void>): Promise<void> {
  if (existsSync(path)) throw alreadyExists(path)
  await removeLeftovers(dirname(path), Date.now())
  const partial = partialPathOf(path)
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

/** A process on another machine may write to a shared folder, so a growing file is left alone. */
const quietMs = 10 * 60_000
/** Process ids are reused. No backup pauses for a day. */
const abandonedMs = 24 * 3_600_000

async function removeLeftovers(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = leftoverPattern.exec(name) ?? []
    if (pid === undefined) continue
    const path = join(folder, name)
    const idleMs = nowMs - ((await stat(path).catch(() => undefined))?.mtimeMs ?? nowMs)
    if (idleMs > abandonedMs || (idleMs > quietMs && !isRunning(Number(pid)))) await rm(path, { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // A process of another user also exists.
    return codeOf(error) === 'EPERM'
  }
}

/** A hard link never replaces a file. If there are none (FAT), a rename after a check is the next best. */
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
