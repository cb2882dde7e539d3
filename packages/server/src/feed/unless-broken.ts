/** Work in the background that is about many feeds or tenants: what ails one holds up no other. */
import type { BackgroundTask, TaskReport } from '../background-task.ts'
import { StorageFailure } from '../storage/storage.ts'

/** What ails the store ends the work: each feed would fail of it, as slowly as it may. */
const ailmentsOfOne: ReadonlySet<unknown> = new Set(['storage_damaged', 'feed_locked', 'tenant_moving'])

/** Reports a failure of this feed, or of this tenant, alone. Rejects with what ails the store. `about`: ids, nothing personal. */
export async function unlessBroken<T>(
  report: TaskReport,
  task: BackgroundTask,
  about: object,
  work: Promise<T>,
): Promise<T | 'broken'> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof StorageFailure && ailmentsOfOne.has(error.code))) throw error
    report.failed(task, error, { ...about })
    return 'broken'
  }
}
