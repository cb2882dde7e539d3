/** The store for many nodes: PostgreSQL 15 or later. Every node may publish to and read from every feed at once. */
import { feedNames, millisecondsOfTicks } from '@property-events/protocol'
import type { Ticks } from '@property-events/protocol'
import { changeCounts } from '../change-counts.ts'
import type { ChangeCounts } from '../change-counts.ts'
import { floorAfter, readClock } from '../clock.ts'
import type { SharedClock } from '../clock.ts'
import { defaultClockToleranceTicks } from '../decide-append.ts'
import { isOpenWindow } from '../open-window.ts'
import type { WantedSettings } from '../settings.ts'
import { notedReads, shownNumbers } from '../shown-numbers.ts'
import { StorageFailure, feedName } from '../storage.ts'
import type {
  KeyStore,
  LocateQuery,
  Located,
  MoveStore,
  NodeStore,
  StorageEngine,
  StoreSettings,
} from '../storage.ts'
import { timeReservation } from '../time-reservation.ts'
import { appendedFeeds, watchers } from '../watchers.ts'
import { appender } from './append.ts'
import { backUp } from './backup.ts'
import { databaseChanges } from './changes.ts'
import { connect, defaultReadTimeoutMs, isConnectionLoss } from './connection.ts'
import type { ConnectionOptions } from './connection.ts'
import type { Statement } from './connection.ts'
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
import { locate, readHead } from './locate.ts'
import { changeMove, exportTenant, moveStates } from './moves.ts'
import { databaseNodes } from './nodes.ts'
import { openStore } from './open-store.ts'
import { readAfter } from './read-after.ts'
import { readEvent } from './read-event.ts'
import { readRange } from './read-range.ts'
import { readLatest, readSubject } from './read-subject.ts'
import { rememberedFeeds } from './remembered-feeds.ts'
import { reserveTime, settler } from './settle.ts'
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
  const guarded = async <T>(run: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new StorageFailure('storage_closed')
    const running = run()
    underWay.add(running)
    try {
      return await running
    } catch (error) {
      throw failureOf(error)
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
  const reserve = () => database.write((session) => reserveTime(session, given()))
  const reservation = timeReservation({
    // A second time may move it a second time, which does no harm.
    renew: () =>
      reserve().catch((error: unknown) => (isConnectionLoss(error) ? reserve() : Promise.reject(error))),
    patienceMs: options.readTimeoutMs ?? defaultReadTimeoutMs,
  })
  const settle = settler(database, reservation, () => {
    const now = given()
    return now && floorAfter(now)
  })
  const appending = appender(database, {
    catalogue: settings.catalogue,
    clockToleranceTicks: overrideClockCheck ? undefined : defaultClockToleranceTicks,
    now: given,
    remembered,
    historyOf: ({ connection }) => histories.get(connection) ?? '',
    vouch: () => database.write((session) => history.vouch(session)),
  })

  /** A head that lies behind what this node has shown before it asked tells of a loss, of now or of an earlier epoch. */
  const watched = async (query: LocateQuery): Promise<Located | undefined> => {
    const before = shown.highest(query.key)
    const located = await locate(database, query)
    if (located === undefined) return undefined
    if (located.head.sequenceNumber >= before) return located
    const isWhole = await database.write((session) => history.check(session))
    // It was of an epoch that is over, and lost with it.
    if (isWhole) shown.forget(query.key, before)
    return located
  }
  const locateSettled = async (query: LocateQuery): Promise<Located | undefined> => {
    // A window without an end is open: the feed need not be looked at to know.
    const open = query.from !== undefined && query.to === undefined
    const located = open ? undefined : await watched(query)
    if (!open && (located === undefined || !isOpenWindow(query, located))) return located
    await settle.settled(query.key)
    return watched(query)
  }

  const reads = notedReads(
    {
      locate: (query) => guarded(() => locateSettled(query)),
      head: (key) => guarded(() => readHead(database, key)),
      readEvent: (key, id) => guarded(() => readEvent(database, key, id)),
      readAfter: (query) => guarded(() => readAfter(database, query)),
      readLatest: (key, subjectId) => guarded(() => readLatest(database, key, subjectId)),
      readSubject: (query) => guarded(() => readSubject(database, query)),
    },
    shown,
  )
  const keys: KeyStore = {
    ...guardedKeyWrites(keyWrites(database), guarded),
    tenants: () => guarded(() => readTenants(database)),
    keys: () => guarded(() => readKeys(database)),
    findKey: (keyId) => guarded(() => findKey(database, keyId)),
    pepperIdsInUse: () => guarded(() => readPepperIds(database)),
  }
  const nodeStore = databaseNodes(database, () =>
    clock === undefined ? undefined : millisecondsOfTicks(readClock(clock)),
  )
  const nodes: NodeStore = {
    announce: (node) => guarded(() => nodeStore.announce(node)),
    retire: (nodeId) => guarded(() => nodeStore.retire(nodeId)),
    live: () => guarded(() => nodeStore.live()),
    pepperId: () => guarded(() => nodeStore.pepperId()),
    finishPepper: (pepperId) => guarded(() => nodeStore.finishPepper(pepperId)),
  }
  const moves: MoveStore = {
    states: () => guarded(() => moveStates(database)),
    change: (tenantId, from, to) =>
      guarded(async () => {
        const outcome = await changeMove(database, tenantId, from, to)
        changes.send(feedNames.map((feed) => ({ tenantId, feed })))
        return outcome
      }),
    exportTenant: (tenantId, held, take) =>
      guarded(() => {
        const now = given()
        return exportTenant(database, now && floorAfter(now), tenantId, held, take)
      }),
  }
  return {
    settings,
    keys,
    nodes,
    moves,
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
    forgetSkippedIds: () =>
      guarded(() => forgetSkippedIds(database, clock === undefined ? undefined : readClock(clock))),
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

function guardedKeyWrites(
  writes: ReturnType<typeof keyWrites>,
  guarded: <T>(run: () => Promise<T>) => Promise<T>,
): ReturnType<typeof keyWrites> {
  return {
    createTenant: (tenant, options) => guarded(() => writes.createTenant(tenant, options)),
    setTenantSuspended: (tenantId, suspended) =>
      guarded(() => writes.setTenantSuspended(tenantId, suspended)),
    insertKey: (record) => guarded(() => writes.insertKey(record)),
    grant: (keyId, grant) => guarded(() => writes.grant(keyId, grant)),
    revokeKey: (keyId, revokedMs) => guarded(() => writes.revokeKey(keyId, revokedMs)),
    setKeyExpiry: (keyId, expiresMs) => guarded(() => writes.setKeyExpiry(keyId, expiresMs)),
    rehashKey: (keyId, fromPepperId, hashed) => guarded(() => writes.rehashKey(keyId, fromPepperId, hashed)),
    recordKeyUses: (uses) => guarded(() => writes.recordKeyUses(uses)),
  }
}
