/** The one place that knows which engines there are. */
import type { SharedClock } from './clock.ts'
import { openMemory } from './memory/engine.ts'
import type { MemoryOptions } from './memory/engine.ts'
import { openPostgres } from './postgres/engine.ts'
import type { PostgresOptions } from './postgres/engine.ts'
import type { WantedSettings } from './settings.ts'
import { openSqlite } from './sqlite/engine.ts'
import type { SqliteOptions } from './sqlite/engine.ts'
import type { StorageEngine } from './storage.ts'

export { inspectStore } from './sqlite/inspect-store.ts'
export type { StoreInspection } from './sqlite/inspect-store.ts'
export { acquireServingLock } from './sqlite/serving-lock.ts'
export type { ServingLock } from './sqlite/serving-lock.ts'

export type OpenStorageOptions = (MemoryOptions | SqliteOptions | PostgresOptions) &
  WantedSettings &
  CommonOptions

interface CommonOptions {
  /** Make the store if there is none. Otherwise a missing one is refused with `not_a_store`. */
  readonly create: boolean
  /** Read in place of the machine's clock. For tests. */
  readonly clock?: SharedClock | undefined
  /** An operator accepts that a feed's head is far ahead of the clock (D25). */
  readonly overrideClockCheck?: boolean | undefined
}

/**
 * Opens a store. Rejects with a `StorageRefusal` (a sentence for the operator) when it is not the store that was asked
 * for, and with a `StorageFailure` when it cannot be reached.
 */
export async function openStorage(options: OpenStorageOptions): Promise<StorageEngine> {
  const { clock, create, overrideClockCheck = false } = options
  if (options.kind === 'memory') return openMemory(options, options, clock, overrideClockCheck)
  if (options.kind === 'sqlite') return openSqlite(options, create, options, clock, overrideClockCheck)
  return openPostgres(options, create, options, clock, overrideClockCheck)
}
