/** The store for many nodes: PostgreSQL 15 or later. Every node may publish to and read from every feed at once. */
import { postgresAccess } from '../../sql/postgres.ts'
import { featureStores } from '../stores.ts'
import type { SharedClock } from '../../runtime/clock.ts'
import { countedRuns, guardedPart, storeGuard } from '../../sql/guarded.ts'
import type { RequestedSettings } from '../settings.ts'
import type { StorageEngine, StoreSettings } from '../storage.ts'
import { databaseBranchViews } from '../../events/postgres/branch-views.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { ConnectionOptions } from '../../sql/postgres/pool.ts'
import type { Statement } from '../../sql/postgres/session.ts'
import { engineParts } from './engine-parts.ts'
import { epochNeed, waitingFeeds, acceptHistory, startEpoch } from './epochs.ts'
import { databaseErasing } from './reduce/erase.ts'
import { databaseEvents } from '../../events/postgres/events.ts'
import { exportRecords } from './copy/export-records.ts'
import { failureOf } from '../../sql/postgres/failure.ts'
import { feedQueues } from '../../events/postgres/log-parts.ts'
import { readHeldSnapshots } from './held-snapshots.ts'
import { importRecords } from './copy/import-records.ts'
import { exportTenant } from './copy/export-tenant.ts'
import { openStore } from './open-store.ts'
import { rewriteTables } from './rewrite.ts'
import { databaseThinning } from './reduce/retention.ts'
import { forgetSkippedIds } from '../../events/postgres/append/skipped-ids.ts'
import { databaseRestricting } from './reduce/restrict.ts'

/** Waiting for feeds that another session has locked takes two connections beside the appends; other writes take two. */
const otherWriteConnections = 4

export interface PostgresOptions extends Pick<
  ConnectionOptions,
  'connectTimeoutMs' | 'readTimeoutMs' | 'writeTimeoutMs'
> {
  readonly kind: 'postgres'
  /** `postgres://user:password@host:port/database`, to the primary. */
  readonly url: string
  /** Connections for reading; one more listens for changes. 8 if left out. */
  readonly readConnections?: number | undefined
  /**
   * Appends under way at once, each on a connection; up to 4 more are for other writes. 4 if left out: with fewer, single events wait
   * while several tenants publish large batches.
   */
  readonly appendsAtOnce?: number | undefined
}

/** Not the name of any feed. Imports run one after the other. */
const imports = 'imports'

const ping: Statement = { name: 'ping', text: 'SELECT FROM store' }

export async function openPostgres(
  options: PostgresOptions,
  create: boolean,
  wanted: RequestedSettings,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
  onWaiting: ((reason: string) => void) | undefined,
): Promise<StorageEngine> {
  const settings = await openStore(options.url, create, wanted, onWaiting)
  return engineOver(options, settings, clock, overrideClockCheck)
}

function engineOver(
  options: PostgresOptions,
  settings: StoreSettings,
  clock: SharedClock | undefined,
  overrideClockCheck: boolean,
): StorageEngine {
  const { readConnections = 8, appendsAtOnce = 4 } = options
  const writeConnections = appendsAtOnce + otherWriteConnections
  const connections = { ...options, readConnections, writeConnections }
  const parts = engineParts({ connections, catalogue: settings.catalogue, clock, overrideClockCheck })
  const { database, history, given, note, feedStates } = parts
  const guard = storeGuard(failureOf)
  const { isClosed } = guard
  const { guarded, ended } = countedRuns(guard.guarded)
  const inFeedQueues = feedQueues()

  const close = (): Promise<void> => {
    parts.reservation.stop()
    return guard.close(async () => {
      await ended()
      await parts.changes.close()
      await database.close()
    })
  }
  return {
    settings,
    ...featureStores(postgresAccess({ ...parts, onChanged: parts.changed }, guarded), {
      storeId: settings.storeId,
      isShared: true,
      exporting: {
        exportTenant: (...asked) => guarded(() => exportTenant(database, parts.givenFloor(), ...asked)),
      },
      erasing: guardedPart(databaseErasing(parts), guarded),
      restricting: guardedPart(databaseRestricting(parts), guarded),
      thinning: guardedPart(databaseThinning(parts), guarded),
    }),
    branchViews: guardedPart(databaseBranchViews(database, parts.givenMs), guarded),
    events: databaseEvents({ ...parts, appendsAtOnce, inFeedQueues, guarded, isClosed }),
    startEpoch: (continueAfter, actor, feeds, webhooks) =>
      guarded(() => startEpoch(database, note, continueAfter, actor, feeds, webhooks)),
    acceptHistory: (actor) => guarded(() => acceptHistory(database, note, actor)),
    waitingFeeds: () => guarded(() => waitingFeeds(database, history)),
    onLoss: (listener) => history.onLoss(listener),
    epochNeed: () => guarded(() => epochNeed(database, history)),
    rewrite: () => guarded(() => rewriteTables(database)),
    exportRecords: (after, take) => guarded(() => exportRecords(database, after, take)),
    importRecords: (records, actor) =>
      guarded(() =>
        inFeedQueues([imports], () => {
          feedStates.forgetAll()
          return importRecords(database, note, records, actor)
        }),
      ),
    forgetSkippedIds: () => guarded(() => forgetSkippedIds(database, given())),
    heldSnapshots: () => guarded(() => readHeldSnapshots(database)),
    observe: (observer) => parts.observers.observe(observer),
    work: () => ({
      listening: parts.changes.listening(),
      reservedMs: parts.reservation.aheadMs(),
      connections: database.connections(),
    }),
    ping: () => guarded(() => pingBothWays(database)),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function pingBothWays(database: Database): Promise<void> {
  await database.read(ping, [])
  await database.write((session) => session.query(ping, []))
}
