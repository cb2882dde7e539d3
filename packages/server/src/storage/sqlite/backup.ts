/**
 * Copies the store while it is written to: `VACUUM INTO` reads one snapshot, so writers do not wait, and it does not start again because
 * of them.
 */
import { Worker } from 'node:worker_threads'
import { writeNewFile } from '../new-file.ts'
import { connectForReading, connectForWriting } from './connection.ts'
import { failureOf } from './failure.ts'
import { metaOf } from './meta.ts'

export interface BackupJob {
  readonly file: string
  /** An empty file. */
  readonly copy: string
}

export function backUp(file: string, path: string): Promise<void> {
  return writeNewFile(path, (copy) => copyInThread({ file, copy }))
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
    const meta = metaOf(target)
    meta.set('needs_epoch', '1')
    meta.remove('maintenance')
    // The copy has none of the nodes that lived when it was made: an erasure would wait for them.
    target.prepare('DELETE FROM node').run()
    // And nobody is signed in there.
    target.prepare('DELETE FROM console_session').run()
    target.prepare('DELETE FROM login_link').run()
  } finally {
    target.close()
  }
}
