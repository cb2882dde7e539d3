/** What an engine tells of its own work. Storage knows neither metrics nor a log: both listen here. */
import type { TaskReport } from '../background-task.ts'

export interface StoreObserver extends TaskReport {
  /**
   * So long a read or a write has waited for a free connection or, where one thread writes, for its turn there. Told of every
   * one, also of those that did not have to wait.
   */
  waited(purpose: 'reading' | 'writing', ms: number): void
  /**
   * An append or a read was made once more. `stale_plan`: another node had changed the feed since the append was planned.
   * `connection_lost`: the answer did not come.
   */
  retried(verb: 'append' | 'read', cause: 'stale_plan' | 'connection_lost'): void
}

/** The state of an engine at this moment, told from memory. */
export interface StoreWork {
  /** Being told of what other nodes append; `undefined`: there are none to hear of, or nothing has been asked of this node yet. */
  readonly listening: { readonly isConnected: boolean; readonly silentMs: number } | undefined
  /** How far ahead of the store's clock time is reserved; `undefined`: no window was asked for yet. */
  readonly reservedMs: number | undefined
  readonly connections: readonly PoolState[]
}

export interface PoolState {
  readonly pool: 'reading' | 'writing' | 'copying'
  readonly inUse: number
  readonly idle: number
  /** Reads or writes that wait for one. */
  readonly waiting: number
}

/** One observer for the parts of an engine, which passes on to all that observe it. */
export interface StoreObservers extends StoreObserver {
  /** Returns how to stop. */
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
