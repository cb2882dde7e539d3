/**
 * Carries out deletions of tenants in the background (docs/decisions/0044): the export, the steps, forgetting what this node holds, and
 * the end.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { feedNames } from '@property-events/protocol'
import type { TaskReport } from '../background-task.ts'
import type {
  DeletedExport,
  Deletion,
  DeletionStore,
  FeedKey,
  OpenDeletion,
  StorageEngine,
} from '../storage/storage.ts'

/** How often it checks whether there is something to do: one probe of a small index. */
const lookEveryMs = 1_000
/** While something is under way: other nodes check as often as above. */
const waitMs = 100
/** The wait after a failure. */
const failureWaitMs = 5_000
/** The pause after a step, as a multiple of the step's time: other tenants have the store for two thirds of the time. */
const pausePerStep = 2
/** After a step that took longer than this, smaller ones follow, because a step holds the writer of a file. */
const stepTargetMs = 20
/**
 * A node may know a key as it was two seconds ago, and answer with what it has begun to read: nothing is removed before that has ended,
 * so that nobody reads only a part of a tenant.
 */
const defaultSettleMs = 5_000
const [fewestEvents, firstEvents, mostEvents] = [10, 50, 1_000]

/** Writes everything that the tenant owns to a file, which is on the disk when it resolves. */
export type TenantExporter = (deletion: Deletion) => Promise<DeletedExport>

export interface DeletingParts {
  readonly storage: Pick<StorageEngine, 'deletions'>
  /** As announced (`NodeStore`): the others wait until this node has said that it holds nothing. */
  readonly nodeId: string
  /** The same as for erasures. */
  readonly forget: (key: FeedKey) => Promise<void>
  /** Left out: this node exports nothing, and leaves it to others. */
  readonly exportTenant?: TenantExporter | undefined
  /** Called with failures, which are retried. */
  readonly report: TaskReport
  /** For tests; 5 s if left out. */
  readonly settleMs?: number | undefined
}

export interface Deleting {
  /** Resolves when the step under way has ended; none begins after that. */
  close(): Promise<void>
}

/** Checks at once and then continuously; any node continues what a crash has interrupted. */
export function carryOutDeletions(parts: DeletingParts): Deleting {
  const closing = new AbortController()
  const { signal } = closing
  const run = async (): Promise<void> => {
    while (!signal.aborted) await pause(await look(parts, signal), signal)
  }
  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined)
}

/** Returns how long to wait before the next look. A deletion that cannot continue does not hold up the others. */
async function look(parts: DeletingParts, signal: AbortSignal): Promise<number> {
  const { storage, report } = parts
  let open: readonly OpenDeletion[]
  try {
    open = await storage.deletions.open()
  } catch (error) {
    if (!signal.aborted) report.failed('delete_tenants', error)
    return failureWaitMs
  }
  let failed = false
  for (const deletion of open) {
    if (signal.aborted) return 0
    try {
      await goOn(parts, deletion, signal)
    } catch (error) {
      failed = true
      if (!signal.aborted) report.failed('delete_tenants', error, { deletionId: deletion.deletionId })
    }
  }
  if (failed) return failureWaitMs
  report.worked('delete_tenants')
  return open.length > 0 ? waitMs : lookEveryMs
}

async function goOn(parts: DeletingParts, deletion: OpenDeletion, signal: AbortSignal): Promise<void> {
  const { storage, nodeId, forget, exportTenant, settleMs } = parts
  const { deletions } = storage
  const { deletionId, tenantId, state, acknowledgedBy } = deletion
  if (state === 'exporting') {
    if (deletion.export !== 'service' || exportTenant === undefined) return
    if ((await deletions.takeExport(deletionId, nodeId)) === 'taken') {
      await deletions.exported(deletionId, await exportTenant(deletion))
    }
  }
  if (state === 'deleting') await removeRows(deletions, deletion, signal, settleMs)
  if (state === 'forgetting') {
    const isKnown = acknowledgedBy.includes(nodeId)
    // After the last step, because what was forgotten earlier may have been read again.
    for (const feed of isKnown ? [] : feedNames) await forget({ tenantId, feed })
    await deletions.acknowledge(deletionId, isKnown ? undefined : nodeId)
  }
}

/** Until no row is left to remove; not before every node refuses all keys of the tenant. `signal`: no step begins after it. */
export async function removeRows(
  deletions: Pick<DeletionStore, 'step'>,
  { deletionId, begunMs }: Pick<Deletion, 'deletionId' | 'begunMs'>,
  signal?: AbortSignal,
  settleMs: number = defaultSettleMs,
): Promise<void> {
  // Whatever the clock of the beginning, this waits no longer than that.
  await pause(Math.min(Math.max(begunMs + settleMs - Date.now(), 0), settleMs), signal)
  let limit = firstEvents
  for (;;) {
    if (signal?.aborted === true) return
    const startedMs = performance.now()
    const outcome = await deletions.step(deletionId, limit)
    const tookMs = performance.now() - startedMs
    if (outcome !== 'removed') return
    if (tookMs > stepTargetMs) limit = Math.max(fewestEvents, Math.floor(limit / 2))
    else if (tookMs < stepTargetMs / 2) limit = Math.min(mostEvents, limit * 2)
    await pause(tookMs * pausePerStep, signal)
  }
}
