import type { StorageEngine } from '../store/storage.ts'

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
