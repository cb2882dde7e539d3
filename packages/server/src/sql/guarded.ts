/** Every verb of an engine on disk runs under a guard: a closed store refuses it, and every error becomes one of the port's. */
import type { Thinning } from '../privacy/retention/retention.ts'
import { StorageFailure } from './storage-errors.ts'
import type { BranchViewStore } from '../events/branches/branch-view-store.ts'
import type { Erasing } from '../privacy/erasure/erasure.ts'
import type { Restricting } from '../privacy/restriction/restriction.ts'
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
export interface CountedRuns {
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

/** A part of the port in an engine: each verb returns at once or with a promise. */
export type Unguarded<Part> = {
  readonly [Verb in keyof Part]: Part[Verb] extends (...given: infer Given) => Promise<infer Answer>
    ? (...given: Given) => Answer | Promise<Answer>
    : never
}

export function guardedRestricting(verbs: Unguarded<Restricting>, guard: Guard): Restricting {
  return {
    begin: (request) => guard(() => verbs.begin(request)),
    lift: (request) => guard(() => verbs.lift(request)),
    step: (restrictionId, limit) => guard(() => verbs.step(restrictionId, limit)),
    kept: (query) => guard(() => verbs.kept(query)),
  }
}

export function guardedErasing(verbs: Unguarded<Erasing>, guard: Guard): Erasing {
  return {
    begin: (request) => guard(() => verbs.begin(request)),
    beginUnchanged: (request, position) => guard(() => verbs.beginUnchanged(request, position)),
    count: (key, target) => guard(() => verbs.count(key, target)),
    reduce: (erasureId, limit) => guard(() => verbs.reduce(erasureId, limit)),
  }
}

export function guardedThinning(verbs: Unguarded<Thinning>, guard: Guard): Thinning {
  return {
    thin: (span, limit, nodeId) => guard(() => verbs.thin(span, limit, nodeId)),
    countDue: (span, limit, progress) => guard(() => verbs.countDue(span, limit, progress)),
  }
}

export function guardedBranchViews(verbs: Unguarded<BranchViewStore>, guard: Guard): BranchViewStore {
  return {
    sets: () => guard(() => verbs.sets()),
    due: () => guard(() => verbs.due()),
    step: (of, limit) => guard(() => verbs.step(of, limit)),
  }
}
