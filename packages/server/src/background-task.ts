/** Work that no request waits for, and how the log and the metrics learn of its failures. */

export type BackgroundTask =
  /** Being told by other nodes that feeds have changed. */
  | 'listen'
  /** Telling other nodes which feeds have changed. */
  | 'tell_changes'
  /** Keeping time reserved ahead, for requests with an open window. */
  | 'reserve_time'
  /** Reading which key ids there are. */
  | 'read_key_ids'
  /** Writing when keys were last used. */
  | 'record_key_uses'
  /** Hashing a key with the present pepper. */
  | 'rehash_key'
  /** Telling other nodes that this one lives. */
  | 'announce_node'
  /** Removing ids that were kept long enough. */
  | 'forget_ids'
  /** Reducing what is to be erased. */
  | 'erase'
  /** Looking which holds have expired. */
  | 'report_holds'
  /** Reducing what was superseded long ago. */
  | 'retain'
  /** Removing the properties of tenants that leave. */
  | 'unpublish'
  /** Filling the views of branches that keys are limited to, and dropping those that none is any more. */
  | 'fill_views'
  /** Deleting tenants with all they own. */
  | 'delete_tenants'
  /** Looking where the feeds are that readers wait for. */
  | 'follow_feeds'
  /** Adding to the store what was noted of requests. */
  | 'add_notes'
  /** Noting that somebody works with the console. */
  | 'use_session'
  /** Removing what was noted of requests long enough ago. */
  | 'age_notes'
  /** Looking which publishers and consumers have fallen silent. */
  | 'watch_silence'
  /** Making pages ahead of time. */
  | 'seal_pages'
  /** Asking the store for what the metrics show of it. */
  | 'measure_store'
  /** Answering on the metrics port. */
  | 'answer_operator'

/** Told of each try, so that a task that fails again and again is told of once. */
export interface TaskReport {
  /** `ids`: of what it was about, for the log. Nothing personal. */
  failed(task: BackgroundTask, error: unknown, ids?: Readonly<Record<string, string>>): void
  worked(task: BackgroundTask): void
}

export const unreported: TaskReport = { failed: () => undefined, worked: () => undefined }

/** One try, reported. Resolves with what it comes to, and with `undefined` when it fails. */
export async function reported<T>(
  report: TaskReport,
  task: BackgroundTask,
  trying: Promise<T>,
): Promise<T | undefined> {
  try {
    const done = await trying
    report.worked(task)
    return done
  } catch (error) {
    report.failed(task, error)
    return undefined
  }
}
