/** The store for many nodes: PostgreSQL 15 or later. Every node may publish to and read from every feed at once. */
import { feedNames } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import { changeCounts } from '../change-counts.ts'
import type { ChangeCounts } from '../change-counts.ts'
import { floorAfter, readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { defaultClockToleranceTicks } from '../decide-append.ts'
import { guardedKeys, guardedMoves, guardedNodes } from '../guarded-verbs.ts'
import type { Guard } from '../guarded-verbs.ts'
import type { WantedSettings } from '../settings.ts'
import { notedReads, shownNumbers } from '../shown-numbers.ts'
import { StorageFailure, feedName } from '../storage.ts'
import type { MoveStore, StorageEngine, StoreSettings } from '../storage.ts'
import { timeReservation } from '../time-reservation.ts'
import { appendedFeeds, watchers } from '../watchers.ts'
import { appender } from './append.ts'
import { backUp } from './backup.ts'
import { databaseChanges } from './changes.ts'
import { connect, defaultReadTimeoutMs, isConnectionLoss } from './connection.ts'
import type { ConnectionOptions, Statement } from './connection.ts'
import { epochNeed, waitingFeeds } from './epoch-need.ts'
import { exportRecords } from './export-records.ts'
import { failureOf } from './failure.ts'
import { feedLines } from './feed-lines.ts'
import { positionFinder } from './find-positions.ts'
import { heldSnapshotOf, heldSnapshots } from './held-snapshots.ts'
import type { HeldSnapshotRow } from './held-snapshots.ts'
import { importRecords } from './import-records.ts'
import { keyWrites } from './key-writes.ts'
import { findKey, readKeys, readPepperIds, readTenants } from './keys.ts'
import { readHead } from './locate.ts'
import { changeMove, exportTenant, moveStates } from './moves.ts'
import { databaseNodes } from './nodes.ts'
import { openStore } from './open-store.ts'
import { readAfter } from './read-after.ts'
import { readEvent } from './read-event.ts'
import { readRange } from './read-range.ts'
import { readLatest, readSubject } from './read-subject.ts'
import { rememberedFeeds } from './remembered-feeds.ts'
import { reserveTime, settler } from './settle.ts'
import { settledLocator } from './settled-locate.ts'
import { forgetSkippedIds } from './skipped-ids.ts'
import { acceptHistory, startEpoch } from './start-epoch.ts'
import { witness } from './witness.ts'

/** Feeds that somebody else has locked are waited for beside the appends, two at a time; what else is written takes two. */
const otherWriteConnections = 4

export interface PostgresOptions extends Pick<
  ConnectionOptions,
  'connectTimeoutMs' | 'readTimeoutMs' | 'writeTimeoutMs'
> {
  readonly kind: 'postgres'
  /** `postgres://user:password@host:port/database`, to the primary. */
  readonly url: string
  /** Connections for reading; one more is for being told of changes. 8 if left out. */
  readonly readConnections?: number | undefined
  /**
   * Appends under way at once, each on a connection; up to 4 more are for what else is written. 4 if left out: with fewer,
   * single events wait while several tenants publish large batches.
   */
  readonly appendsAtOnce?: number | undefined
  /** A file that `backup` of this engine has written, to fill an empty database from. */
  readonly file?: string | undefined
}

/** No feeds' own names. Imports follow on each other, and dry runs take one connection of those for writing, not all. */
const imports = 'imports'
const previews = 'previews'

const ping: Statement = { name: 'ping', text: 'SELECT FROM store' }

/** What another thread of the process needs: it is a node of its own, but for the counts of changes (P8). */
export interface PostgresPass {
  readonly kind: 'postgres'
  readonly options: PostgresOptions
  readonly clock: SharedClock | undefined
  readonly overrideClockCheck: boolean
  /** The memory of the `ChangeCounts`. */
  readonly changes: SharedArrayBuffer
}

export interface OpenedPostgres {
  readonly storage: StorageEngine
  /** For one more thread. */
  pass(): PostgresPass
}

export async function openPostgres(
  options: PostgresOptions,
  create: boolean,
  wanted: WantedSettings,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
  onWaiting: ((reason: string) => void) | undefined,
): Promise<OpenedPostgres> {
  const settings = await openStore(options, create, wanted, onWaiting)
  const counts = changeCounts()
  return {
    storage: engineOver(options, settings, clock, overrideClockCheck, counts),
    pass: () => ({ kind: 'postgres', options, clock, overrideClockCheck, changes: counts.memory }),
  }
}

export async function joinPostgres(pass: PostgresPass): Promise<StorageEngine> {
  const { options, clock, overrideClockCheck, changes } = pass
  const settings = await openStore(options, false, {})
  return engineOver(options, settings, clock, overrideClockCheck, changeCounts(changes))
}

function engineOver(
  options: PostgresOptions,
  settings: StoreSettings,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
  counts: ChangeCounts,
): StorageEngine {
  const { readConnections = 8, appendsAtOnce = 4 } = options
  const shown = shownNumbers(counts)
  const history = witness(shown, {
    latestAnswered: () => settle.latestAnswered(),
    historyChanged: () => reservation.forget(),
  })
  const remembered = rememberedFeeds()
  const histories = new WeakMap<object, string>()
  const database = connect({
    ...options,
    readConnections,
    writeConnections: appendsAtOnce + otherWriteConnections,
    async onConnect(session, purpose) {
      const met = await history.meet(session)
      histories.set(session.connection, met)
      if (purpose === 'writing') remembered.forgetAll(met)
    },
  })
  const watching = watchers(counts)
  const changes = databaseChanges(database, watching, (key) => remembered.forget([key]))
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  /** Every verb goes through here: a closed store says so, and the database's errors become the port's. */
  const guarded: Guard = async (run) => {
    if (closing !== undefined) throw new StorageFailure('storage_closed')
    const running = Promise.try(run).catch((error: unknown) => Promise.reject(failureOf(error)))
    underWay.add(running)
    try {
      return await running
    } finally {
      underWay.delete(running)
    }
  }
  const close = (): Promise<void> => {
    reservation.stop()
    closing ??= Promise.allSettled(underWay)
      .then(() => changes.close())
      .then(() => database.close())
    return closing
  }

  const inFeedLines = feedLines()

  const findPosition = positionFinder(database)
  const given = (): Ticks | undefined => (clock === undefined ? undefined : readClock(clock))
  const givenFloor = (): Ticks | undefined => {
    const now = given()
    return now && floorAfter(now)
  }
  const reserve = () => database.write((session) => reserveTime(session, given()))
  const reservation = timeReservation({
    // A second time may move it a second time, which does no harm.
    renew: () =>
      reserve().catch((error: unknown) => (isConnectionLoss(error) ? reserve() : Promise.reject(error))),
    patienceMs: options.readTimeoutMs ?? defaultReadTimeoutMs,
  })
  const settle = settler(database, reservation, givenFloor)
  const appending = appender(database, {
    catalogue: settings.catalogue,
    clockToleranceTicks: overrideClockCheck ? undefined : defaultClockToleranceTicks,
    now: given,
    remembered,
    historyOf: ({ connection }) => histories.get(connection) ?? '',
    vouch: () => database.write((session) => history.vouch(session)),
  })

  const locate = settledLocator(database, { shown, history, settle })
  const reads = notedReads(
    {
      locate: (query) => guarded(() => locate(query)),
      head: (key) => guarded(() => readHead(database, key)),
      readEvent: (key, id) => guarded(() => readEvent(database, key, id)),
      readAfter: (query) => guarded(() => readAfter(database, query)),
      readLatest: (key, subjectId) => guarded(() => readLatest(database, key, subjectId)),
      readSubject: (query) => guarded(() => readSubject(database, query)),
    },
    shown,
  )
  const keyStore = {
    ...keyWrites(database),
    tenants: () => readTenants(database),
    keys: () => readKeys(database),
    findKey: (keyId: string) => findKey(database, keyId),
    pepperIdsInUse: () => readPepperIds(database),
  }
  const moveStore: MoveStore = {
    states: () => moveStates(database),
    async change(tenantId, from, to) {
      const outcome = await changeMove(database, tenantId, from, to)
      changes.send(feedNames.map((feed) => ({ tenantId, feed })))
      return outcome
    },
    exportTenant: (tenantId, held, take) => exportTenant(database, givenFloor(), tenantId, held, take),
  }
  return {
    settings,
    keys: guardedKeys(keyStore, guarded),
    nodes: guardedNodes(databaseNodes(database, given), guarded),
    moves: guardedMoves(moveStore, guarded),
    events: {
      appendsAtOnce,
      append: (batches, lockWaitMs) =>
        guarded(async () => {
          const names = batches.map(({ key }) => feedName(key))
          const outcomes = await inFeedLines(names, () => appending.append(batches, lockWaitMs))
          shown.noteAppended(batches, outcomes)
          changes.send(appendedFeeds(batches, outcomes))
          return watching.tellAppended(batches, outcomes)
        }),
      preview: (batch) =>
        guarded(async () => {
          const outcome = await inFeedLines([previews], () => appending.preview(batch))
          shown.notePreviewed(batch, outcome)
          return outcome
        }),
      ...reads,
      readRange: (range) => guarded(() => readRange(database, range)),
      positionOf: (key, id) => guarded(() => findPosition(key, id)),
      watch(listener) {
        if (closing === undefined) changes.listen()
        return watching.watch(listener)
      },
      changeCount(key) {
        if (closing === undefined) changes.listen()
        return watching.changeCount(key)
      },
    },
    startEpoch: (continueAfter, feeds) => guarded(() => startEpoch(database, continueAfter, feeds)),
    acceptHistory: () => guarded(() => acceptHistory(database)),
    waitingFeeds: () => guarded(() => waitingFeeds(database, history)),
    onLoss: (listener) => history.onLoss(listener),
    epochNeed: () => guarded(() => epochNeed(database, history)),
    backup: (path) => guarded(() => backUp(database, path)),
    exportRecords: (after, take) => guarded(() => exportRecords(database, after, take)),
    importRecords: (records) =>
      guarded(() =>
        inFeedLines([imports], () => {
          remembered.forgetAll()
          return importRecords(database, records)
        }),
      ),
    forgetSkippedIds: () => guarded(() => forgetSkippedIds(database, given())),
    heldSnapshots: () =>
      guarded(async () => (await database.read<HeldSnapshotRow>(heldSnapshots, [])).map(heldSnapshotOf)),
    ping: () =>
      guarded(async () => {
        await database.read(ping, [])
        await database.write((session) => session.query(ping, []))
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}
