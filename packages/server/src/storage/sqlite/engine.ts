/** The embedded store: SQLite in WAL mode, read on this thread in microseconds, written to on another. */
import { readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import type { WantedSettings } from '../settings.ts'
import { StorageFailure } from '../storage.ts'
import type { KeyStore, StorageEngine } from '../storage.ts'
import { watchers } from '../watchers.ts'
import { backUp } from './backup.ts'
import { commitLine } from './commit-line.ts'
import type { CommitLine } from './commit-line.ts'
import { connectForReading } from './connection.ts'
import { exportRecords } from './export-records.ts'
import { failureOf } from './failure.ts'
import { feedReader, headReader } from './feed-row.ts'
import { keyReads } from './keys.ts'
import { isOpenWindow, locator } from './locate.ts'
import { openStore } from './open-store.ts'
import { afterReader } from './read-after.ts'
import { eventReader, positionReader } from './read-event.ts'
import { rangeReader } from './read-range.ts'
import { latestReader, subjectReader } from './read-subject.ts'
import { linkWriter } from './writer-link.ts'

export interface SqliteOptions {
  readonly kind: 'sqlite'
  /** The data folder; the store is `property-events.db` in it. A path to a file is taken as the store itself. */
  readonly folder: string
  /** The largest the store's file may become; publishing then answers `storage_full`. Unlimited if left out. */
  readonly maxBytes?: number | undefined
}

export async function openSqlite(
  options: SqliteOptions,
  create: boolean,
  wanted: WantedSettings,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
): Promise<StorageEngine> {
  const { file, settings } = await openStore(options.folder, create, wanted)
  const link = linkWriter({ file, maxBytes: options.maxBytes, clock, overrideClockCheck })
  const line = commitLine(() => readClock(clock))
  await link.call('durability')
  const db = connectForReading(file)
  let closing: Promise<void> | undefined

  /** Every verb goes through here: a closed store says so, and SQLite's errors become the port's. */
  const guarded = async <T>(run: () => T | Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new StorageFailure('storage_closed')
    try {
      return await run()
    } catch (error) {
      throw failureOf(error)
    }
  }
  const close = (): Promise<void> => {
    closing ??= closeStore(line, link, db)
    return closing
  }

  const keyRead = keyReads(db)
  const keys: KeyStore = {
    tenants: () => guarded(() => keyRead.tenants()),
    keys: () => guarded(() => keyRead.keys()),
    findKey: (keyId) => guarded(() => keyRead.findKey(keyId)),
    createTenant: (tenant) => guarded(() => link.call('createTenant', tenant)),
    setTenantSuspended: (tenantId, suspended) =>
      guarded(() => link.call('setTenantSuspended', tenantId, suspended)),
    insertKey: (record) => guarded(() => link.call('insertKey', record)),
    revokeKey: (keyId, revokedMs) => guarded(() => link.call('revokeKey', keyId, revokedMs)),
    setKeyExpiry: (keyId, expiresMs) => guarded(() => link.call('setKeyExpiry', keyId, expiresMs)),
    recordKeyUses: (uses) => guarded(() => link.call('recordKeyUses', uses)),
  }

  const watching = watchers()
  const locate = locator(db)
  const readRange = rangeReader(db)
  const readEvent = eventReader(db)
  const positionOf = positionReader(db)
  const readAfter = afterReader(db)
  const readLatest = latestReader(db)
  const readSubject = subjectReader(db)
  const feedOf = feedReader(db)
  const headOf = headReader(db)
  return {
    settings,
    keys,
    events: {
      append: (batches) =>
        guarded(async () => {
          const outcomes = await line.commit((floor) => link.call('append', batches, floor))
          return watching.tellAppended(batches, outcomes)
        }),
      preview: (batch) => guarded(() => link.call('preview', batch)),
      locate: (query) =>
        guarded(() => {
          const located = locate(query)
          const mustWait = located !== undefined && isOpenWindow(query, located)
          return mustWait ? line.betweenCommits(() => locate(query)) : located
        }),
      readRange: (range) => guarded(() => readRange(range)),
      readEvent: (key, id) => guarded(() => readEvent(key, id)),
      positionOf: (key, id) => guarded(() => positionOf(key, id)),
      readAfter: (query) => guarded(() => readAfter(query)),
      readLatest: (key, subjectId) => guarded(() => readLatest(key, subjectId)),
      readSubject: (query) => guarded(() => readSubject(query)),
      head: (key) =>
        guarded(() => {
          const feed = feedOf(key)
          return feed && headOf(feed)
        }),
      watch: (listener) => watching.watch(listener),
    },
    startEpoch: (continueAfter) => guarded(() => line.commit(() => link.call('startEpoch', continueAfter))),
    backup: (path) => guarded(() => backUp({ file, path })),
    exportRecords: (after, take) => guarded(() => exportRecords(file, after, take)),
    importRecords: (records) => guarded(() => line.commit(() => link.call('importRecords', records))),
    ping: () =>
      guarded(async () => {
        db.prepare('SELECT count(*) FROM meta').get()
        await link.call('durability')
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Commits that were asked for before are finished; the WAL goes into the file. */
async function closeStore(
  line: CommitLine,
  link: ReturnType<typeof linkWriter>,
  db: ReturnType<typeof connectForReading>,
): Promise<void> {
  try {
    await line.idle()
    db.close()
    await link.call('close')
    await link.ended()
  } catch (error) {
    throw failureOf(error)
  }
}
