/** Which PostgreSQL servers this program works on. */
import { StorageRefusal } from '../../sql/storage-errors.ts'

export const oldestServer = 15
/** The newest version that the tests were run on. */
export const newestServer = 18

/** `version` as in `server_version_num`, such as 150018. Without this check an older server fails later, and with a less clear reason. */
export function serverRefusal(version: number): StorageRefusal | undefined {
  const major = Math.floor(version / 10_000)
  if (major >= oldestServer) return undefined
  return new StorageRefusal(
    'old_server',
    `The database is PostgreSQL ${major}, and this program needs ${oldestServer} or newer (${newestServer} is known to work). ` +
      'Upgrade it with pg_upgrade, or copy the store to a newer server.',
  )
}
