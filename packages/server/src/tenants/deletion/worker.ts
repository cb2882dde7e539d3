/**
 * Carries out deletions of tenants in the background (docs/decisions/0044): the export, the steps, forgetting what this node holds, and
 * the end.
 */
import { feedNames } from '@property-events/protocol'
import type { TaskReport } from '../../runtime/background-task.ts'
import { inSteps, pause, startWorker } from '../../runtime/worker-loop.ts'
import type { StepEnd, Worker } from '../../runtime/worker-loop.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { DeletedExport, Deletion, DeletionStore, OpenDeletion } from './deletion.ts'

/** How often it checks whether there is something to do: one probe of a small index. */
const checkEveryMs = 1_000
/** While something is under way: other nodes check as often as above. */
const waitMs = 100
/** The wait after a failure. */
const failureWaitMs = 5_000
/** Other tenants have the store for two thirds of the time. */
const stepSizes = { first: 50, fewest: 10, most: 1_000, pausePerStep: 2 } as const
/**
 * A node may know a key as it was two seconds ago, and answer with what it has begun to read: nothing is removed before that has ended,
 * so that nobody reads only a part of a tenant.
 */
const defaultSettleMs = 5_000

/** Writes everything that the tenant owns to a file, which is on the disk when it resolves. */
export type TenantExporter = (deletion: Deletion) => Promise<DeletedExport>

interface DeletingParts {
  readonly storage: { readonly deletions: DeletionStore }
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

/** Checks at once and then continuously; any node continues what a crash has interrupted. */
export function carryOutDeletions(parts: DeletingParts): Worker {
  const { report } = parts
  return startWorker({ task: 'delete_tenants', report, retryMs: failureWaitMs }, (signal) =>
    look(parts, signal),
  )
}

/** A deletion that cannot continue does not hold up the others. */
async function look(parts: DeletingParts, signal: AbortSignal): Promise<StepEnd> {
  const { storage, report } = parts
  const open = await storage.deletions.open()
  let hasFailed = false
  for (const deletion of open) {
    if (signal.aborted) break
    try {
      await goOn(parts, deletion, signal)
    } catch (error) {
      hasFailed = true
      if (!signal.aborted) report.failed('delete_tenants', error, { deletionId: deletion.deletionId })
    }
  }
  if (hasFailed) return { waitMs: failureWaitMs, hasFailed }
  return { waitMs: open.length > 0 ? waitMs : checkEveryMs }
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
  await inSteps(stepSizes, signal, async (limit) =>
    (await deletions.step(deletionId, limit)) === 'removed' ? 'more' : 'done',
  )
}
