/** The embedded store: SQLite in WAL mode. The thread that serves reads it, in microseconds; a separate thread writes. */
import { sqliteAccess } from '../../sql/sqlite.ts'
import { featureStores } from '../stores.ts'
import { changeCounts, watchers } from '../../events/watchers.ts'
import type { ChangeCounts } from '../../events/watchers.ts'
import type { SharedClock } from '../../runtime/clock.ts'
import { guardedPart, storeGuard } from '../../sql/guarded.ts'
import type { RequestedSettings } from '../settings.ts'
import type { StorageEngine, StoreSettings } from '../storage.ts'
import { storeObservers } from '../../sql/store-observer.ts'
import type { StoreObservers } from '../../sql/store-observer.ts'
import { fileBranchViews } from '../../events/sqlite/branch-views.ts'
import { commitLine } from '../../events/sqlite/commit-line.ts'
import type { CommitLine } from '../../events/sqlite/commit-line.ts'
import { connectForReading } from '../../sql/sqlite/connection.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { epochReads } from './epochs.ts'
import { fileErasing } from './reduce/erasure-writes.ts'
import { fileEvents } from '../../events/sqlite/events.ts'
import { exportRecords } from './copy/export-records.ts'
import { failureOf } from '../../sql/sqlite/failure.ts'
import { exportTenant } from './copy/export-tenant.ts'
import { openStore } from './open-store.ts'
import { rewriteStore } from './rewrite.ts'
import { fileRestricting } from './reduce/restrict.ts'
import { fileThinning } from './reduce/retention.ts'
import { openWindowLocator } from '../../events/sqlite/read/locate.ts'
import { hostWriterInProcess, hostWriter } from './writer/writer-host.ts'
import { linkWriter } from './writer/writer-link.ts'
import type { WriterLink } from './writer/writer-link.ts'

export interface SqliteOptions {
  readonly kind: 'sqlite'
  /** The data folder; the store is `property-events.db` in it. A path to a file is used as the store itself. */
  readonly folder: string
  /** The maximum size of the store's file; beyond it, publishing answers `storage_full`. Left out: unlimited. */
  readonly maxBytes?: number | undefined
  /**
   * Which thread writes. Left out: a separate one, so that no flush holds up a request. `thisThread`, the one that opens the store, is
   * for programs that serve nobody.
   */
  readonly writesOn?: 'ownThread' | 'thisThread' | undefined
}

export async function openSqlite(
  options: SqliteOptions,
  create: boolean,
  wanted: RequestedSettings,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
): Promise<StorageEngine> {
  const { file, settings, reservedUntil } = await openStore(options.folder, create, wanted)
  const changes = changeCounts()
  const line = commitLine(changes)
  line.raiseFloor(reservedUntil)
  const { maxBytes, writesOn = 'ownThread' } = options
  const writerOptions = { file, maxBytes, clock, overrideClockCheck, changes: changes.memory }
  const host = (writesOn === 'ownThread' ? hostWriter : hostWriterInProcess)(writerOptions, line)
  const observers = storeObservers()
  const writer = linkWriter(host, (ms) => observers.waited('writing', ms))
  await writer.durability()
  const endWriter = async (): Promise<void> => {
    await writer.close()
    await host.ended()
  }
  return engineOver({ file, settings, clock, writer, line, changes, observers, end: endWriter })
}

interface EngineParts {
  readonly file: string
  readonly settings: StoreSettings
  readonly clock: SharedClock | undefined
  readonly writer: WriterLink
  readonly line: CommitLine
  readonly changes: ChangeCounts
  readonly observers: StoreObservers
  /** Called after the connection for reading is closed. */
  readonly end: () => Promise<void>
}

function engineOver(parts: EngineParts): StorageEngine {
  const { file, settings, clock, writer, line, observers } = parts
  const db = connectForReading(file)
  const guard = storeGuard((error) => failureOf(error, file))
  const { guarded } = guard
  const locator = openWindowLocator(db, clock, line, writer, observers)
  const epochs = epochReads(db)
  const watching = watchers()

  const close = (): Promise<void> => {
    locator.stop()
    return guard.close(() => closeStore(parts, db))
  }
  return {
    settings,
    ...featureStores(
      sqliteAccess(db, clock, writer, (key) => watching.notify(key), guarded),
      {
        storeId: settings.storeId,
        isShared: false,
        exporting: {
          exportTenant: (...given) => guarded(() => exportTenant(file, clock, ...given)),
        },
        erasing: guardedPart(fileErasing(db, clock, writer, watching), guarded),
        restricting: guardedPart(fileRestricting(db, writer, watching), guarded),
        thinning: guardedPart(fileThinning(db, clock, writer, watching), guarded),
      },
    ),
    branchViews: guardedPart(fileBranchViews(db, clock, writer), guarded),
    events: fileEvents({ ...parts, db, locator, guard, watching }),
    startEpoch: (continueAfter, actor, feeds, webhooks) =>
      guarded(() => writer.startEpoch(continueAfter, actor, feeds, webhooks)),
    acceptHistory: (actor) => guarded(() => writer.acceptHistory(actor)),
    waitingFeeds: () => guarded(() => epochs.waitingFeeds()),
    // A process that holds the file cannot lose any of it.
    onLoss: () => () => undefined,
    epochNeed: () => guarded(() => epochs.epochNeed()),
    rewrite: () => guarded(() => rewriteStore(file)),
    exportRecords: (after, take) => guarded(() => exportRecords(file, after, take)),
    importRecords: (records, actor) => guarded(() => writer.importRecords(records, actor)),
    forgetSkippedIds: () => guarded(() => writer.forgetSkippedIds()),
    // A reader keeps pages in the WAL, and no search goes through them.
    heldSnapshots: () => guarded(() => []),
    observe: (observer) => observers.observe(observer),
    work: () => ({ listening: undefined, reservedMs: locator.reservedMs(), connections: [] }),
    ping: () =>
      guarded(async () => {
        db.prepare('SELECT count(*) FROM meta').get()
        await writer.durability()
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Earlier questions to the writer are answered first; the connection is closed before the writer moves the WAL into the file. */
async function closeStore({ writer, end }: EngineParts, db: Connection): Promise<void> {
  try {
    await writer.settled().finally(() => db.close())
    await end()
  } catch (error) {
    throw failureOf(error)
  }
}
