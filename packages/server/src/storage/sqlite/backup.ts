/** A copy of the store while it is written to: `VACUUM INTO` reads one snapshot, so writers neither wait nor restart it. */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { StorageRefusal } from '../storage.ts'
import { connectForReading, connectForWriting } from './connection.ts'
import { failureOf } from './failure.ts'
import { metaOf } from './meta.ts'

export interface BackupJob {
  readonly file: string
  readonly path: string
}

/** Makes the copy in a thread of its own: seconds to minutes for a large store. */
export function backUp(job: BackupJob): Promise<void> {
  if (existsSync(job.path)) return Promise.reject(alreadyExists(job.path))
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./backup-thread.ts', import.meta.url), { workerData: job })
    let failure: unknown
    worker.on('error', (error) => (failure = error))
    worker.on('exit', (code) => {
      if (failure === undefined && code === 0) resolve()
      else reject(existsSync(job.path) ? alreadyExists(job.path) : failureOf(failure))
    })
  })
}

/** Writes beside the target, flushes, and only then gives the copy its name: a name always stands for a whole copy. */
export function copyStore({ file, path }: BackupJob): void {
  const partial = `${path}.${process.pid}.partial`
  closeSync(openSync(partial, 'wx', 0o600))
  try {
    const source = connectForReading(file)
    try {
      source.prepare('VACUUM INTO ?').run(partial)
    } finally {
      source.close()
    }
    const copy = connectForWriting({ file: partial })
    try {
      // Numbers may be shown after this moment that the copy does not hold (D13).
      metaOf(copy).set('needs_epoch', '1')
    } finally {
      copy.close()
    }
    flush(partial, 'r+')
    giveName(partial, path)
    // Windows has no flush for folders.
    if (process.platform !== 'win32') flush(dirname(path), 'r')
  } finally {
    rmSync(partial, { force: true })
  }
}

/** A hard link never replaces a file. Where there are none (FAT), a rename after a look is the next best. */
function giveName(partial: string, path: string): void {
  try {
    linkSync(partial, path)
  } catch (error) {
    if (existsSync(path)) throw error
    renameSync(partial, path)
  }
}

function flush(path: string, mode: 'r' | 'r+'): void {
  const descriptor = openSync(path, mode)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function alreadyExists(path: string): StorageRefusal {
  return new StorageRefusal(
    'already_exists',
    `${path} exists; a backup never replaces a file. Name another, or move it away.`,
  )
}
