/** What SQLite says, as sentences. */
import { plainText } from '@property-events/protocol'
import { TablesAway, TablesRefusal } from './refusal.ts'

/** How long a statement waits for another program that is writing to the file. */
export const busyMs = 10_000

/** Runs statements; an error of theirs becomes a `TablesRefusal`, or a `TablesAway` where waiting may help. */
export async function guarded<T>(file: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw sqliteError(file, error)
  }
}

/** The primary result codes of SQLite for which there is something to do. */
const away: Readonly<Record<number, string>> = {
  5: `is locked: another program has been writing to it for ${busyMs / 1_000} s.`,
  6: 'is locked by another program.',
  10: 'cannot be read or written: the disk reports an error. What was written before is whole.',
  13: 'has no room: the disk is full. What was written before is whole.',
}
const refused: Readonly<Record<number, string>> = {
  8: 'cannot be written: it, or its folder, is read-only for this user.',
  11: 'is damaged. Restore it from a backup, or name a new file.',
  14: 'cannot be opened. Its folder must exist, and this user needs rights to it and to the folder.',
  26: 'is no SQLite database. Name another file.',
}

export function sqliteError(file: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = resultCode(error)
  if (code === undefined) return error
  const name = plainText(file)
  if (away[code] !== undefined) return new TablesAway(`${name} ${away[code]}`, { cause: error })
  return refused[code] === undefined ? error : new TablesRefusal(`${name} ${refused[code]}`, { cause: error })
}

/** The primary result code that an error stands for; `undefined` for one that is not of a database file. */
function resultCode(error: Error): number | undefined {
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  return 'code' in error && typeof error.code === 'string' ? codesByName[error.code] : undefined
}

/** As the lock's SQLite and the file system name what the table above has by number. */
const codesByName: Readonly<Record<string, number>> = {
  SQLITE_FULL: 13,
  SQLITE_IOERR_WRITE: 10,
  EACCES: 8,
  EPERM: 8,
  EROFS: 8,
  ENOSPC: 13,
  EDQUOT: 13,
}
