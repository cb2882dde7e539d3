/** Work that no request waits for, and how its failures reach the log and the metrics. */

export type BackgroundTask =
  /** Hearing from other nodes that feeds have changed. */
  | 'listen'
  /** Telling other nodes which feeds have changed. */
  | 'tell_changes'
  /** Keeping time reserved ahead, for requests with an open window. */
  | 'reserve_time'
  /** Reading which key ids exist. */
  | 'read_key_ids'
  /** Writing when keys were last used. */
  | 'record_key_uses'
  /** Hashing a key with the present pepper. */
  | 'rehash_key'
  /** Announcing to other nodes that this one is alive. */
  | 'announce_node'
  /** Removing ids that were kept long enough. */
  | 'forget_ids'
  /** Reducing payloads that have to be erased. */
  | 'erase'
  /** Checking which holds have expired. */
  | 'report_holds'
  /** Reducing what was superseded long ago. */
  | 'retain'
  /** Removing the properties of tenants that are leaving. */
  | 'unpublish'
  /** Filling the views of branches that keys are limited to, and dropping those that no key uses any longer. */
  | 'fill_views'
  /** Deleting tenants with everything they own. */
  | 'delete_tenants'
  /** Checking the position of feeds that readers wait for. */
  | 'follow_feeds'
  /** Adding notes about requests to the store. */
  | 'add_notes'
  /** Noting that somebody works with the console. */
  | 'use_session'
  /** Removing notes about requests that were kept long enough. */
  | 'age_notes'
  /** Sending webhooks, and writing how far they are. */
  | 'send_webhooks'
  /** Checking which publishers and consumers have fallen silent. */
  | 'watch_silence'
  /** Making pages ahead of time. */
  | 'seal_pages'
  /** Asking the store for what the metrics show of it. */
  | 'measure_store'
  /** Answering on the metrics port. */
  | 'answer_operator'

/** Hears of each try, so that a task that keeps failing is logged once. */
export interface TaskReport {
  /** `ids`: what the task was about, for the log. Nothing personal. */
  failed(task: BackgroundTask, error: unknown, ids?: Readonly<Record<string, string>>): void
  worked(task: BackgroundTask): void
}

export const unreported: TaskReport = { failed: () => undefined, worked: () => undefined }

/** Makes one try and reports it. Resolves with its result, or with `undefined` if it fails. */
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
