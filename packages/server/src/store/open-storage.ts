/** The only file that knows which engines there are. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memberText } from '@property-events/protocol'
import type { SharedClock } from '../runtime/clock.ts'
import type { PostgresOptions } from './postgres/engine.ts'
import type { DatabaseInspection } from './postgres/inspect-database.ts'
import type { RequestedSettings } from './settings.ts'
import { openSqlite } from './sqlite/engine.ts'
import type { SqliteOptions } from './sqlite/engine.ts'
import type { StorageEngine } from './storage.ts'
import { StorageRefusal } from '../sql/storage-errors.ts'
import { failureOf } from '../sql/sqlite/failure.ts'
import { takeFileLock, makeFolder } from '../sql/sqlite/file-lock.ts'
import type { FileLock } from '../sql/sqlite/file-lock.ts'

export type { DatabaseInspection, InspectedStore, ReachedDatabase } from './postgres/inspect-database.ts'
export { checkEvents, inspectStore } from './sqlite/inspect-store.ts'
export type { EventsCheck, StoreInspection } from './sqlite/inspect-store.ts'
export { storeFileOf } from '../sql/sqlite/connection.ts'
export { backUpStore } from './sqlite/backup.ts'
export { makeFolder, takeFileLock } from '../sql/sqlite/file-lock.ts'
export type { FileLock } from '../sql/sqlite/file-lock.ts'

export type OpenStorageOptions = (SqliteOptions | PostgresOptions) & RequestedSettings & CommonOptions

interface CommonOptions {
  /** Creates the store if there is none. Otherwise a missing one is refused with `not_a_store`. */
  readonly create: boolean
  /** Replaces the machine's clock. For tests. */
  readonly clock?: SharedClock | undefined
  /** An operator accepts that a feed's head is far ahead of the clock (D25). */
  readonly overrideClockCheck?: boolean | undefined
  /** Called with a sentence for the log when opening has to wait for another process that is changing the store. */
  readonly onWaiting?: ((reason: string) => void) | undefined
  /** How long to wait for a database that is away. Left out: it does not wait. */
  readonly waitMs?: number | undefined
  /** Ends that waiting. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Opens a store. Rejects with a `StorageRefusal` (a sentence for the operator) if it is not the requested store, and with a
 * `StorageFailure` if it cannot be reached.
 */
export async function openStorage(options: OpenStorageOptions): Promise<StorageEngine> {
  const { clock, overrideClockCheck = false } = options
  const { onWaiting, waitMs = 0, signal, ...given } = options
  const { create } = given
  if (given.kind === 'sqlite') return openSqlite(given, create, given, clock, overrideClockCheck)
  // Loaded on use: without it, serving from SQLite takes 2 MB less.
  const { openPostgres } = await import('./postgres/engine.ts')
  const { untilReached } = await import('./postgres/open-store.ts')
  const open = () => openPostgres(given, create, given, clock, overrideClockCheck, onWaiting)
  return untilReached(open, { waitMs, signal, onWaiting })
}

/** Describes the contents of a database, without changing it. */
export async function inspectDatabase(url: string): Promise<DatabaseInspection> {
  const { inspectDatabase: inspect } = await import('./postgres/inspect-database.ts')
  return inspect(url)
}

/** Full addresses: of the service with its base path, and of `/metrics`. */
export interface ServedAt {
  readonly url: string
  readonly metricsUrl: string | undefined
}

interface ServingLock extends FileLock {
  /** Keeps the addresses beside the lock, for `servedAt`. Never fails: on a full disk they are unknown. */
  announce(at: ServedAt): void
}

const addressesFile = 'serve.json'

/**
 * Takes the folder for serving, or returns why not (`in_use`). Commands that make keys or backups do not take it. Throws a
 * `StorageFailure` if the folder cannot be written.
 */
export function acquireServingLock(dataFolder: string): ServingLock | StorageRefusal {
  const addresses = join(dataFolder, addressesFile)
  try {
    makeFolder(dataFolder)
    const lock = takeFileLock(join(dataFolder, 'serve.lock'), 0o600)
    if (lock === undefined) return inUse(dataFolder)
    // Of a process that was killed.
    rmSync(addresses, { force: true })
    return {
      release: () => lock.release(),
      announce({ url, metricsUrl }) {
        try {
          writeFileSync(addresses, `${JSON.stringify({ url, metricsUrl })}\n`, { mode: 0o600 })
        } catch {
          rmSync(addresses, { force: true })
        }
      },
    }
  } catch (error) {
    throw failureOf(error)
  }
}

/** Where a process serves the folder; `starting` until it has announced that; `undefined`: none does. */
export function servedAt(dataFolder: string): ServedAt | 'starting' | undefined {
  if (!existsSync(join(dataFolder, 'serve.lock'))) return undefined
  const lock = acquireServingLock(dataFolder)
  if (!(lock instanceof StorageRefusal)) {
    lock.release()
    return undefined
  }
  try {
    const kept: unknown = JSON.parse(readFileSync(join(dataFolder, addressesFile), 'utf8'))
    const url = memberText(kept, 'url')
    return url === undefined ? 'starting' : { url, metricsUrl: memberText(kept, 'metricsUrl') }
  } catch {
    return 'starting'
  }
}

function inUse(dataFolder: string): StorageRefusal {
  return new StorageRefusal(
    'in_use',
    `Another process is serving the data folder ${dataFolder}. Stop it first, or name another folder with --data.`,
  )
}
