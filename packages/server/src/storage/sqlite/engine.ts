/** The embedded store: SQLite in WAL mode, read on each thread that serves in microseconds, written to on one of its own. */
import type { MessagePort } from 'node:worker_threads'
import { changeCounts } from '../change-counts.ts'
import type { ChangeCounts } from '../change-counts.ts'
import type { SharedClock } from '../clock.ts'
import { guardedKeys, guardedMoves, guardedNodes } from '../guarded-verbs.ts'
import type { Guard, Unguarded } from '../guarded-verbs.ts'
import type { WantedSettings } from '../settings.ts'
import { notedReads, shownNumbers } from '../shown-numbers.ts'
import { StorageFailure } from '../storage.ts'
import type { KeyStore, MoveStore, NodeStore, StorageEngine, StoreSettings } from '../storage.ts'
import { watchers } from '../watchers.ts'
import { backUp } from './backup.ts'
import { commitLine } from './commit-line.ts'
import type { CommitLine } from './commit-line.ts'
import { connectForReading } from './connection.ts'
import { epochReads } from './epoch-need.ts'
import { exportRecords } from './export-records.ts'
import { failureOf } from './failure.ts'
import { feedReader, headReader } from './feed-row.ts'
import { keyReads } from './keys.ts'
import { exportTenant, moveStates } from './moves.ts'
import { nodeReads } from './nodes.ts'
import { openStore } from './open-store.ts'
import { afterReader } from './read-after.ts'
import { eventReader, positionReader } from './read-event.ts'
import { rangeReader } from './read-range.ts'
import { latestReader, subjectReader } from './read-subject.ts'
import { settledLocator } from './settled-locate.ts'
import { accessThrough, portToWriter } from './writer-access.ts'
import { hostWriter } from './writer-host.ts'
import { linkWriter } from './writer-link.ts'
import type { WriterLink } from './writer-link.ts'

export interface SqliteOptions {
  readonly kind: 'sqlite'
  /** The data folder; the store is `property-events.db` in it. A path to a file is taken as the store itself. */
  readonly folder: string
  /** The largest the store's file may become; publishing then answers `storage_full`. Unlimited if left out. */
  readonly maxBytes?: number | undefined
}

/** What another thread of the process needs to serve the same open store. To be transferred to it, with its port. */
export interface SqlitePass {
  readonly kind: 'sqlite'
  readonly file: string
  readonly settings: StoreSettings
  readonly clock: SharedClock | undefined
  readonly writer: MessagePort
  /** The memories of the `CommitLine` and the `ChangeCounts`. */
  readonly line: SharedArrayBuffer
  readonly changes: SharedArrayBuffer
}

export interface OpenedSqlite {
  readonly storage: StorageEngine
  /** For one more thread. All have to close theirs before the storage is closed. */
  pass(): SqlitePass
}

export async function openSqlite(
  options: SqliteOptions,
  create: boolean,
  wanted: WantedSettings,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
): Promise<OpenedSqlite> {
  const { file, settings, reservedUntil } = await openStore(options.folder, create, wanted)
  const line = commitLine()
  line.raiseFloor(reservedUntil)
  const changes = changeCounts()
  const { maxBytes } = options
  const writerOptions = { file, maxBytes, clock, overrideClockCheck, changes: changes.memory }
  const host = hostWriter(writerOptions, line)
  const link = linkWriter(host)
  await link.call('durability')
  const endWriter = async (): Promise<void> => {
    await link.call('close')
    await host.ended()
  }
  return {
    storage: engineOver({ file, settings, clock, link, line, changes, told: 'byItself', end: endWriter }),
    pass: () => ({
      kind: 'sqlite',
      file,
      settings,
      clock,
      writer: portToWriter(host),
      line: line.memory,
      changes: changes.memory,
    }),
  }
}

/** On another thread than the one that opened the store: what it closes is its own part. */
export function joinSqlite({ file, settings, clock, writer, line, changes }: SqlitePass): StorageEngine {
  const link = linkWriter(accessThrough(writer))
  return engineOver({
    file,
    settings,
    clock,
    link,
    line: commitLine(line),
    changes: changeCounts(changes),
    told: 'byAll',
    end: async () => link.detach(),
  })
}

interface EngineParts {
  readonly file: string
  readonly settings: StoreSettings
  readonly clock: SharedClock | undefined
  readonly link: WriterLink
  readonly line: CommitLine
  readonly changes: ChangeCounts
  /** Whose appends watchers are told of: this engine's own, or any thread's. */
  readonly told: 'byItself' | 'byAll'
  /** What is closed behind the connection for reading. */
  readonly end: () => Promise<void>
}

function engineOver(parts: EngineParts): StorageEngine {
  const { file, settings, clock, link, line, changes } = parts
  const db = connectForReading(file)
  let closing: Promise<void> | undefined

  /** Every verb goes through here: a closed store says so, and SQLite's errors become the port's. */
  const guarded: Guard = async (run) => {
    if (closing !== undefined) throw new StorageFailure('storage_closed')
    try {
      return await run()
    } catch (error) {
      throw failureOf(error, file)
    }
  }
  const guardedAtOnce = <T>(run: () => T): T => {
    if (closing !== undefined) throw new StorageFailure('storage_closed')
    try {
      return run()
    } catch (error) {
      throw failureOf(error, file)
    }
  }
  const close = (): Promise<void> => {
    locator.stop()
    closing ??= closeStore(parts, db)
    return closing
  }

  const keyStore: Unguarded<KeyStore> = {
    ...keyReads(db),
    createTenant: (tenant, options) => link.call('createTenant', tenant, options),
    setTenantSuspended: (tenantId, suspended) => link.call('setTenantSuspended', tenantId, suspended),
    insertKey: (record) => link.call('insertKey', record),
    grant: (keyId, grant) => link.call('grant', keyId, grant),
    revokeKey: (keyId, revokedMs) => link.call('revokeKey', keyId, revokedMs),
    setKeyExpiry: (keyId, expiresMs) => link.call('setKeyExpiry', keyId, expiresMs),
    rehashKey: (keyId, fromPepperId, hashed) => link.call('rehashKey', keyId, fromPepperId, hashed),
    recordKeyUses: (uses) => link.call('recordKeyUses', uses),
  }
  const nodeStore: Unguarded<NodeStore> = {
    ...nodeReads(db, clock),
    announce: (node) => link.call('announceNode', node),
    retire: (nodeId) => link.call('retireNode', nodeId),
    finishPepper: (pepperId) => link.call('finishPepper', pepperId),
  }
  const moveStore: Unguarded<MoveStore> = {
    states: moveStates(db),
    change: (tenantId, from, to) => link.call('changeMove', tenantId, from, to),
    exportTenant: (tenantId, held, take) => exportTenant(file, clock, tenantId, held, take),
  }

  const watching = watchers()
  const shown = shownNumbers(changes)
  const locator = settledLocator(db, clock, line, link)
  const readRange = rangeReader(db)
  const readEvent = eventReader(db)
  const positionOf = positionReader(db)
  const readAfter = afterReader(db)
  const readLatest = latestReader(db)
  const readSubject = subjectReader(db)
  const feedOf = feedReader(db)
  const headOf = headReader(db)
  const epochs = epochReads(db)
  const reads = notedReads(
    {
      locate: (query) => guarded(() => locator.locate(query)),
      head: (key) =>
        guarded(() => {
          const feed = feedOf(key)
          return feed && headOf(feed)
        }),
      readEvent: (key, id) => guarded(() => readEvent(key, id)),
      readAfter: (query) => guarded(() => readAfter(query)),
      readLatest: (key, subjectId) => guarded(() => readLatest(key, subjectId)),
      readSubject: (query) => guarded(() => readSubject(query)),
    },
    shown,
  )
  return {
    settings,
    keys: guardedKeys(keyStore, guarded),
    nodes: guardedNodes(nodeStore, guarded),
    moves: guardedMoves(moveStore, guarded),
    events: {
      appendsAtOnce: 1,
      append: (batches) =>
        guarded(async () => {
          const outcomes = await link.call('append', batches)
          shown.noteAppended(batches, outcomes)
          return watching.tellAppended(batches, outcomes)
        }),
      preview: (batch) =>
        guarded(async () => {
          const outcome = await link.call('preview', batch)
          shown.notePreviewed(batch, outcome)
          return outcome
        }),
      ...reads,
      readRange: (range) => guarded(() => readRange(range)),
      positionOf: (key, id) => guardedAtOnce(() => positionOf(key, id)),
      watch(listener) {
        const stop = watching.watch(listener)
        const unfollow = parts.told === 'byAll' ? changes.follow(() => listener(undefined)) : undefined
        return () => {
          stop()
          unfollow?.()
        }
      },
      changeCount: (key) => changes.of(key),
    },
    startEpoch: (continueAfter, feeds) => guarded(() => link.call('startEpoch', continueAfter, feeds)),
    acceptHistory: () => guarded(() => link.call('acceptHistory')),
    waitingFeeds: () => guarded(() => epochs.waitingFeeds()),
    // Nothing is lost from under a process that holds the file.
    onLoss: () => () => undefined,
    epochNeed: () => guarded(() => epochs.epochNeed()),
    backup: (path) => guarded(() => backUp(file, path)),
    exportRecords: (after, take) => guarded(() => exportRecords(file, after, take)),
    importRecords: (records) => guarded(() => link.call('importRecords', records)),
    forgetSkippedIds: () => guarded(() => link.call('forgetSkippedIds')),
    // A reader keeps pages in the WAL, and nobody's search goes through them.
    heldSnapshots: () => guarded(() => []),
    ping: () =>
      guarded(async () => {
        db.prepare('SELECT count(*) FROM meta').get()
        await link.call('durability')
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What was asked of the writer before is answered first; the connection goes before the writer moves the WAL into the file. */
async function closeStore(
  { link, end }: EngineParts,
  db: ReturnType<typeof connectForReading>,
): Promise<void> {
  try {
    await link.call('settled').finally(() => db.close())
    await end()
  } catch (error) {
    throw failureOf(error)
  }
}
