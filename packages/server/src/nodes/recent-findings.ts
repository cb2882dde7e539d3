/** What an operator can read about a running service: its settings, what was found out about it, and the backups of its store (PROTOCOL §12.10). */
import type { StorageEngine } from '../store/storage.ts'

/** One setting, as an operator may see it. */
export interface ShownSetting {
  readonly name: string
  /** The variable that can set it. */
  readonly variable: string
  /** A secret is `(not shown)`. */
  readonly value: unknown
  /** The flag or the variable that set it, or `default`. */
  readonly source: string
}

/** The result of one check. `remedy` says what to do; a finding that is `ok` needs none. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly remedy?: string
}

/** Checks open files and connections, so they run no more often than this, however often they are requested. */
export const findingsKeptMs = 5_000

/** For a service that was given no checks of its own. */
export async function storeFindings({ ping }: Pick<StorageEngine, 'ping'>): Promise<readonly Finding[]> {
  const answers = await ping().then(
    () => true,
    () => false,
  )
  if (answers) return [{ check: 'store', status: 'ok', detail: 'it answers' }]
  const remedy = 'Check that the store can be reached; the log says more.'
  return [{ check: 'store', status: 'fail', detail: 'it does not answer', remedy }]
}

/** Three months of four a day. */
const backupsAtMost = 400

/** When backups of the store were begun, milliseconds since 1970, the newest first. */
export async function recentBackups({ audit, settings }: StorageEngine): Promise<readonly number[]> {
  const query = {
    first: 'newest',
    action: 'backup.begun',
    target: settings.storeId,
    limit: backupsAtMost,
  } as const
  const rows = await audit.read(query)
  return rows === 'unknownRow' ? [] : rows.map(({ atMs }) => atMs)
}
