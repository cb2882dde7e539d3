/** What a node knows about the store's maintenance: it asks the store once a second at most, and only while somebody publishes. */
import { maintenanceNoticeMs } from './maintenance.ts'
import type { Maintenance, MaintenanceStore } from './maintenance.ts'

export interface MaintenanceWatch {
  /**
   * The present maintenance; `undefined`: there is none. Synchronous if the store was asked less than a second ago. Rejects with the
   * store's `StorageFailure`.
   */
  now(): Maintenance | undefined | Promise<Maintenance | undefined>
}

interface Reading {
  /** Taken before the store was asked, so that no answer is used for longer than `freshMs` after it was true. */
  readonly askedMs: number
  readonly maintenance: Maintenance | undefined
}

interface MaintenanceWatchOptions {
  /** Called when maintenance begins and ends, as far as this node has asked. */
  readonly onChange?: (maintenance: Maintenance | undefined) => void
  /** How long an answer of the store is used; longer would break the promise of `maintenanceNoticeMs`. */
  readonly freshMs?: number | undefined
  /** Milliseconds, never set back. */
  readonly clock?: () => number
}

export function watchMaintenance(
  storage: Pick<MaintenanceStore, 'maintenance'>,
  {
    onChange = () => undefined,
    freshMs = maintenanceNoticeMs / 2,
    clock = () => performance.now(),
  }: MaintenanceWatchOptions = {},
): MaintenanceWatch {
  let latest: Reading | undefined
  let asking: { readonly askedMs: number; readonly answer: Promise<Maintenance | undefined> } | undefined

  async function ask(askedMs: number): Promise<Maintenance | undefined> {
    const maintenance = await storage.maintenance()
    if (latest !== undefined && latest.askedMs > askedMs) return latest.maintenance
    const before = latest?.maintenance
    latest = { askedMs, maintenance }
    if ((before === undefined) !== (maintenance === undefined)) onChange(maintenance)
    return maintenance
  }

  return {
    now() {
      const nowMs = clock()
      if (latest !== undefined && nowMs - latest.askedMs < freshMs) return latest.maintenance
      if (asking !== undefined && nowMs - asking.askedMs < freshMs) return asking.answer
      const answer = ask(nowMs)
      const own = { askedMs: nowMs, answer }
      asking = own
      const forget = (): void => {
        if (asking === own) asking = undefined
      }
      answer.then(forget, forget)
      return answer
    },
  }
}
