/** What an engine reports about its own work. Storage knows neither metrics nor a log: both listen here. */
import type { TaskReport } from '../runtime/background-task.ts'

export interface StoreObserver extends TaskReport {
  /**
   * A read or a write has waited this long for a free connection or, if one thread writes, for its turn there. Called for every one, even
   * if it did not have to wait.
   */
  waited(purpose: 'reading' | 'writing', ms: number): void
  /**
   * An append or a read was retried. `stale_plan`: another node had changed the feed since the append was planned. `connection_lost`: no
   * answer came.
   */
  retried(verb: 'append' | 'read', cause: 'stale_plan' | 'connection_lost'): void
}

/** The present state of an engine, from memory. */
export interface StoreWork {
  /**
   * The connection that hears what other nodes append; `undefined`: there are no other nodes, or this node has not been asked for
   * anything yet.
   */
  readonly listening: { readonly isConnected: boolean; readonly silentMs: number } | undefined
  /** How far ahead of the store's clock time is reserved; `undefined`: no window has been requested yet. */
  readonly reservedMs: number | undefined
  readonly connections: readonly PoolState[]
}

export interface PoolState {
  readonly pool: 'reading' | 'writing' | 'copying'
  readonly inUse: number
  readonly idle: number
  /** Reads or writes that wait for a connection. */
  readonly waiting: number
}

/** One observer for the parts of an engine, which passes everything on to all its observers. */
export interface StoreObservers extends StoreObserver {
  /** Returns a function that stops it. */
  observe(observer: StoreObserver): () => void
}

export function storeObservers(): StoreObservers {
  const observers = new Set<StoreObserver>()
  return {
    observe(observer) {
      observers.add(observer)
      return () => void observers.delete(observer)
    },
    waited(purpose, ms) {
      for (const observer of observers) observer.waited(purpose, ms)
    },
    retried(verb, cause) {
      for (const observer of observers) observer.retried(verb, cause)
    },
    failed(task, error) {
      for (const observer of observers) observer.failed(task, error)
    },
    worked(task) {
      for (const observer of observers) observer.worked(task)
    },
  }
}

/** An old state of the store that something still reads, or may read. */
export interface HeldSnapshot {
  /** `catalog_slot` keeps versions of the database's catalogues and none of our tables. */
  readonly holder: 'session' | 'standby' | 'slot' | 'catalog_slot' | 'prepared'
  /** How many transactions have begun since. */
  readonly transactions: number
  /** For how long, as far as the store tells. */
  readonly seconds: number | undefined
  /** For an operator: what to look for. */
  readonly name: string
}
