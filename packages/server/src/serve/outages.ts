/** The kinds of outage, and the kind that each failure belongs to. Failures are logged only here. */
import type { Logger } from 'pino'
import type { BackgroundTask, TaskReport } from '../runtime/background-task.ts'
import type { FailureObserver } from '../http/observer.ts'
import { StorageFailure } from '../sql/storage-errors.ts'
import { createOutage } from '../runtime/log/outage.ts'
import type { Outage, OutageState } from '../runtime/log/outage.ts'

type OutageName = 'store' | 'store_full' | 'feed_locked' | 'listen'

const words: Readonly<Record<OutageName, { readonly what: string; readonly over: string }>> = {
  store: { what: 'the store does not answer', over: 'the store answers' },
  store_full: { what: 'the store has no room left', over: 'the store has room' },
  feed_locked: {
    what: 'another session holds a feed, and publications to it wait',
    over: 'no publication waits in vain for a feed that another session holds',
  },
  listen: {
    what: 'this node is not told what other nodes append, and sees it later',
    over: 'this node is told what other nodes append',
  },
}
const names = ['store', 'store_full', 'feed_locked', 'listen'] as const satisfies readonly OutageName[]

export interface Outages extends TaskReport, FailureObserver {
  /** A publication was stored. */
  stored(): void
  /** `of`: the outage's name in the log. `error` is a fault of the service, and stands for many kinds. */
  states(): readonly (OutageState & { readonly of: OutageName | 'error' })[]
  /** Writes the last lines of outages that are not over yet. */
  close(): void
}

interface OutagesOptions {
  readonly log: Logger
  /** Resolves when the store answers. */
  readonly ping: () => Promise<void>
}

/** See `OutageOptions`. */
const quietMs = 5_000
const longQuietMs = 60_000

/** The file may stay full: only a publication, or a long time without one, shows that it no longer is. */
const fullFor = 10

export function createOutages({ log, ping }: OutagesOptions): Outages {
  const outage = (name: OutageName, more: { probe?: () => Promise<void>; longQuietMs?: number } = {}) =>
    createOutage({ name, ...words[name], log, quietMs, longQuietMs, ...more })
  const all: Readonly<Record<OutageName, Outage>> = {
    store: outage('store', { probe: ping }),
    store_full: outage('store_full', { longQuietMs: fullFor * longQuietMs }),
    feed_locked: outage('feed_locked'),
    listen: outage('listen'),
  }
  const errors = errorKinds(log)

  const failed = (error: unknown, isPublishing: boolean, fields: object): void => {
    const name = outageOf(error)
    if (name === undefined) errors.failed(error, fields)
    else all[name].failed(name === 'store' && !isPublishing ? 'asking' : 'writing', error, fields)
  }
  return {
    requestFailed: (error, requestId, isPublishing) =>
      failed(error, isPublishing, requestId === undefined ? {} : { requestId }),
    failed(task, error, ids) {
      if (isClosed(error)) return
      if (task === 'listen') all.listen.failed('asking', error, { task })
      else failed(error, false, { task, ...ids })
    },
    worked(task: BackgroundTask) {
      if (task === 'listen') all.listen.worked('asking')
    },
    stored() {
      all.store.worked('writing')
      all.store_full.worked('writing')
    },
    states: () => [
      ...names.map((of) => ({ of, ...all[of].state() })),
      { of: 'error' as const, ...errors.state() },
    ],
    close() {
      for (const name of names) all[name].close()
      errors.close()
    },
  }
}

/** `undefined`: the error is a fault of its own kind. */
function outageOf(error: unknown): OutageName | undefined {
  if (!(error instanceof StorageFailure)) return undefined
  const { code, scope } = error
  if (code === 'storage_full') return 'store_full'
  if (code === 'feed_locked') return 'feed_locked'
  return code === 'storage_unavailable' && scope === 'store' ? 'store' : undefined
}

/** True for work that was under way when the service stopped. */
function isClosed(error: unknown): boolean {
  return error instanceof StorageFailure && error.code === 'storage_closed'
}

/** The most kinds of error that are logged separately; further ones share one kind. */
const kindsAtMost = 50

/** Faults of the service, and damage. The outage of each kind begins and ends independently. */
function errorKinds(log: Logger) {
  const open = new Map<string, Outage>()
  let failures = 0
  return {
    failed(error: unknown, fields: object): void {
      failures += 1
      const found = kindOf(error)
      const kind = open.has(found) || open.size < kindsAtMost ? found : 'others'
      let outage = open.get(kind)
      if (outage === undefined) {
        outage = createOutage({
          name: 'error',
          what: 'something failed that should not',
          over: 'it has not failed for a minute',
          log,
          quietMs: longQuietMs,
          longQuietMs,
          onceInOneLine: true,
          onOver: () => open.delete(kind),
        })
        open.set(kind, outage)
      }
      outage.failed('writing', error, fields)
    },
    state: (): OutageState => ({ open: open.size > 0, failures }),
    close(): void {
      for (const outage of open.values()) outage.close()
    },
  }
}

/** Two errors are of the same kind if they have the same message and come from the same place. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [, place = ''] = /\n\s+at (.+)/.exec(error.stack ?? '') ?? []
  const cause = error.cause === undefined ? '' : kindOf(error.cause)
  return `${error.name} ${error.message} ${place} ${cause}`.slice(0, 500)
}
