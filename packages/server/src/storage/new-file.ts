/** The file of a backup, of whatever engine. */
import { existsSync } from 'node:fs'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from './error-code.ts'
import { StorageRefusal } from './storage.ts'

/** Of a file that is being written. No other program names files so: one that was left over can be removed without a look. */
const partialSuffix = '.property-events-partial'
/** Such a file, and what SQLite keeps beside one that is a store. */
const leftoverPattern = /\.(\d+)\.property-events-partial(?:-wal|-shm|-journal)?$/

/** Where this process writes the file of this name until it is whole. A process that is killed leaves it there. */
export function partialPathOf(path: string): string {
  return `${path}.${process.pid}${partialSuffix}`
}

/**
 * Has the file written beside its place, into an empty one that only its owner can read, flushes it, and only then gives it its
 * name: a name always stands for a whole file. Removes what killed processes have left in the folder. Rejects with the
 * `StorageRefusal` `already_exists` rather than replace a file.
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

/** A process on another machine may write to a shared folder: a file that grows is left alone. */
const quietMs = 10 * 60_000
/** Numbers of processes are given again. No backup pauses for a day. */
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
    // A process of another user exists, too.
    return codeOf(error) === 'EPERM'
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
