/** The two kinds of connection to the store's file, and their settings. */
import { closeSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { Database as Connection } from 'better-sqlite3'
import { makeFolder } from './file-lock.ts'

export type { Connection }

/**
 * 4 kB. Measured with 100,000 events as the demo makes them (4.6 kB each), pages of 100 read as one value, warm: 4k 503 MB
 * and 5,500 pages/s; 8k 841 MB and 3,700–4,400, because a page then holds one event and a gap; 16k 565 MB and 2,500–4,000;
 * 32k 533 MB and 3,400–3,900. Bytes written to the WAL per single-event commit: 4k 38 kB, 8k 62 kB, 16k 111 kB.
 */
export const pageSize = 4096

/**
 * What a connection that reads caches of the store's pages, which the kernel caches as well. Reading was no slower with 2 MB than with 32
 * (an event by its id, a page straight from the store).
 */
const cacheKiB = 2_048

/**
 * The same for the connection that writes. A commit of 50 events of as many feeds changes some 600 pages, and a smaller cache writes and
 * reads pages again in the middle of it: 16 reads per event with 2 MB, 8 with 4, 6 with 8 and with 16.
 */
const writingCacheKiB = 4_096

/**
 * 32 MB of pages between two checkpoints. Each event of a feed changes the same few pages as the one before it, so the longer the WAL, the
 * fewer pages are copied into the file. Processor time of the writer for single events in 50 feeds, commits of 25: 209 µs an event with 8
 * MB (and a cache of 2), 180 with 16 and 165 with 32. In the same runs, the slowest hundredth of the commits took no longer.
 */
const checkpointPages = 8_000

/** How long to wait for another process (a key being made, a migration) to finish its write. */
const busyTimeoutMs = 10_000

/** The store's file in a data folder. A path to a file is used as the store itself, so that a backup can be opened directly. */
export function storeFileOf(folder: string): string {
  return statSync(folder, { throwIfNoEntry: false })?.isFile() === true
    ? folder
    : join(folder, 'property-events.db')
}

/** Makes an empty file that only its owner can read, in a folder only they can enter. SQLite's side files follow it. */
export function makeStoreFile(file: string): void {
  makeFolder(dirname(file))
  closeSync(openSync(file, 'a', 0o600))
}

interface WriteOptions {
  readonly file: string
  /** The maximum size of the store's file. */
  readonly maxBytes?: number | undefined
}

/** The connection that writes. FULL, because in WAL mode SQLite's own default may lose the last commits (P7). */
export function connectForWriting(options: WriteOptions): Connection {
  const db = new Database(options.file, { fileMustExist: true, timeout: busyTimeoutMs })
  try {
    db.pragma('synchronous = FULL')
    db.pragma('foreign_keys = ON')
    db.pragma(`cache_size = ${-writingCacheKiB}`)
    db.pragma(`wal_autocheckpoint = ${checkpointPages}`)
    db.pragma('journal_size_limit = 67108864') // a WAL that a long reader has let grow shrinks again
    if (options.maxBytes !== undefined) {
      db.pragma(`max_page_count = ${Math.max(1, Math.floor(options.maxBytes / pageSize))}`)
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * The connection that reads. In its statements, a value that rows are looked up by is in a CAST: otherwise SQLite may look at the value
 * while it plans, and then plans again for every value, which takes longer than a probe does. An event by its id took 13.8 µs without and
 * takes 6.6, the bound of a window 6.4 and 2.7.
 */
export function connectForReading(file: string): Connection {
  const db = new Database(file, { readonly: true, timeout: busyTimeoutMs })
  try {
    db.pragma(`cache_size = ${-cacheKiB}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
