/** Rewrites the store's file, so that its free space holds nothing of what was reduced (D17). */
import { Worker } from 'node:worker_threads'
import { StorageRefusal } from '../../sql/storage-errors.ts'
import { connectForWriting } from '../../sql/sqlite/connection.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { failureOf } from '../../sql/sqlite/failure.ts'

interface RewriteJob {
  readonly file: string
}

/** How the thread ends; if it could not write, it throws what SQLite throws. */
type RewriteEnd = 'rewritten' | 'logInUse'

/** In a separate thread: seconds to minutes for a large store. Reading continues, and publishing waits. */
export async function rewriteStore(file: string): Promise<void> {
  if ((await rewriteInThread({ file })) === 'rewritten') return
  throw new StorageRefusal(
    'in_use',
    'The file is rewritten, but its write-ahead log still holds what was there before, because something has been reading an old ' +
      'state of the store for ten minutes (a backup, or a copy). Run compact again when that has ended.',
  )
}

function rewriteInThread(workerData: RewriteJob): Promise<RewriteEnd> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./rewrite-thread.ts', import.meta.url), { workerData })
    let end: RewriteEnd | undefined
    let failure: unknown
    worker.on('message', (message: RewriteEnd) => (end = message))
    worker.on('error', (error) => (failure = error))
    worker.on('exit', () => {
      if (end === undefined) reject(failureOf(failure))
      else resolve(end)
    })
  })
}

/** Only the rewrite needs this much. */
const cacheKiB = 65_536
/** Longer than a large commit of the service takes. */
const lockWaitMs = 60_000

/**
 * VACUUM builds the file again from its rows. `secure_delete` makes it clear the unused parts of the pages that it makes, so that this
 * depends on nothing else. The log still holds the old pages then, and so does the file until the log is moved into it.
 */
export function rewrite({ file }: RewriteJob): RewriteEnd {
  const db = connectForWriting({ file })
  try {
    db.pragma(`cache_size = ${-cacheKiB}`)
    db.pragma(`busy_timeout = ${lockWaitMs}`)
    db.pragma('secure_delete = ON')
    db.exec('VACUUM')
    return emptyLog(db) ? 'rewritten' : 'logInUse'
  } finally {
    db.close()
  }
}

const patienceMs = 10 * 60_000
const pauseMs = 100

/** False: something still reads pages of the log, or of the earlier file. */
function emptyLog(db: Connection): boolean {
  // Most of it, while others write. The next step holds up writers while it waits, so it does not wait long.
  db.pragma('wal_checkpoint(PASSIVE)')
  db.pragma('busy_timeout = 50')
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt;) {
    if (db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0) return true
    Atomics.wait(pause, 0, 0, pauseMs)
  }
  return false
}
