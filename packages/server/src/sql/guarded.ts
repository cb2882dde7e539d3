/** Every verb of an engine on disk runs under a guard: a closed store refuses it, and every error becomes one of the port's. */
import { StorageFailure } from './storage-errors.ts'
import type { StorageRefusal } from './storage-errors.ts'

/** Runs a verb, unless the store is closed. Rejects only with a `StorageFailure` or a `StorageRefusal`. */
export type Guard = <T>(run: () => T | Promise<T>) => Promise<T>

export interface StoreGuard {
  readonly guarded: Guard
  /** Like `guarded`, for synchronous verbs: throws the error that `guarded` would reject with. */
  readonly guardedAtOnce: <T>(run: () => T) => T
  readonly isClosed: () => boolean
  /** From the first call on, verbs are refused. Resolves like the first `end`, which runs once. */
  close(end: () => Promise<void>): Promise<void>
}

/** `failureOf`: turns an error of the engine's library into one of the port's. */
export function storeGuard(failureOf: (error: unknown) => StorageFailure | StorageRefusal): StoreGuard {
  let closing: Promise<void> | undefined
  const refuseClosed = (): void => {
    if (closing !== undefined) throw new StorageFailure('storage_closed')
  }
  return {
    async guarded(run) {
      refuseClosed()
      try {
        return await run()
      } catch (error) {
        throw failureOf(error)
      }
    },
    guardedAtOnce(run) {
      refuseClosed()
      try {
        return run()
      } catch (error) {
        throw failureOf(error)
      }
    },
    isClosed: () => closing !== undefined,
    close(end) {
      closing ??= end()
      return closing
    },
  }
}

/** A guard that knows which verbs are under way. */
interface CountedRuns {
  readonly guarded: Guard
  /** Resolves when every verb that was under way at the call has ended, successfully or not. */
  readonly ended: () => Promise<void>
}

export function countedRuns(guarded: Guard): CountedRuns {
  const underWay = new Set<Promise<unknown>>()
  return {
    async guarded(run) {
      const running = guarded(run)
      underWay.add(running)
      try {
        return await running
      } finally {
        underWay.delete(running)
      }
    },
    async ended() {
      await Promise.allSettled(underWay)
    },
  }
}

/** A part of the port, each of its verbs under the guard. */
export function guardedPart<Part extends object>(part: Part, guard: Guard): Part {
  return new Proxy(part, {
    get(of, name) {
      const verb: unknown = Reflect.get(of, name)
      return typeof verb === 'function'
        ? (...given: readonly unknown[]) => guard<unknown>(() => Reflect.apply(verb, of, given))
        : verb
    },
  })
}
