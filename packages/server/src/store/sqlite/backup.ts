/**
 * Copies the store while it is written to: `VACUUM INTO` reads one snapshot, so writers do not wait, and it does not start again because
 * of them.
 */
import { Worker } from 'node:worker_threads'
import { writeNewFile } from '../new-file.ts'
import { connectForReading, connectForWriting, storeFileOf } from '../../sql/sqlite/connection.ts'
import { failureOf } from '../../sql/sqlite/failure.ts'
import { metaOf } from './meta.ts'

interface BackupJob {
  readonly file: string
  /** An empty file. */
  readonly copy: string
}

/**
 * Copies the store of a data folder, while it is in use, to a new file that opens as a store; it then needs `startEpoch`. Rejects with the
 * `StorageRefusal` `already_exists` rather than replace a file, and with a `StorageFailure`.
 */
export async function backUpStore(folder: string, path: string): Promise<void> {
  const file = storeFileOf(folder)
  try {
    await writeNewFile(path, (copy) => copyInThread({ file, copy }))
  } catch (error) {
    throw failureOf(error, file)
  }
}

/** In a thread of its own: seconds to minutes for a large store. */
function copyInThread(job: BackupJob): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./backup-thread.ts', import.meta.url), { workerData: job })
    let failure: unknown
    worker.on('error', (error) => (failure = error))
    worker.on('exit', (code) => {
      if (failure === undefined && code === 0) resolve()
      else reject(failureOf(failure))
    })
  })
}

export function copyStore({ file, copy }: BackupJob): void {
  const source = connectForReading(file)
  try {
    source.prepare('VACUUM INTO ?').run(copy)
  } finally {
    source.close()
  }
  const target = connectForWriting({ file: copy })
  try {
    // Numbers may be shown after this moment that the copy does not hold (D13).
    metaOf(target).set('needs_epoch', '1')
  } finally {
    target.close()
  }
}
