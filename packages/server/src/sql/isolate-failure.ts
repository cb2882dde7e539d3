/** Background work on many feeds or tenants: a failure of one holds up no other. */
import type { BackgroundTask, TaskReport } from '../runtime/background-task.ts'
import { StorageFailure } from './storage-errors.ts'

/** A failure of the store ends the work: each feed would fail because of it, as slowly as it can. */
const ailmentsOfOne: ReadonlySet<unknown> = new Set(['storage_damaged', 'feed_locked', 'tenant_moving'])

/** Reports a failure of this feed, or of this tenant, alone. Rejects with a failure of the store. `about`: ids, nothing personal. */
export async function isolateFailure<T>(
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
