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
const away: Readonly<Record<string, string>> = {
  BUSY: `is locked: another program has been writing to it for ${busyMs / 1_000} s.`,
  LOCKED: 'is locked by another program.',
  IOERR: 'cannot be read or written: the disk reports an error. What was written before is whole.',
  FULL: 'has no room: the disk is full. What was written before is whole.',
}
const refused: Readonly<Record<string, string>> = {
  READONLY: 'cannot be written: it, or its folder, is read-only for this user.',
  CORRUPT: 'is damaged. Restore it from a backup, or name a new file.',
  CANTOPEN: 'cannot be opened. Its folder must exist, and this user needs rights to it and to the folder.',
  NOTADB: 'is not an SQLite database. Name another file.',
}

export function sqliteError(file: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = primaryCode(error)
  if (code === undefined) return error
  const name = plainText(file)
  if (away[code] !== undefined) return new TablesAway(`${name} ${away[code]}`, { cause: error })
  return refused[code] === undefined ? error : new TablesRefusal(`${name} ${refused[code]}`, { cause: error })
}

/** `IOERR` of `SQLITE_IOERR_WRITE`; `undefined` for an error that is not of a database file. */
function primaryCode(error: Error): string | undefined {
  if (!('code' in error) || typeof error.code !== 'string') return undefined
  return /^SQLITE_([A-Z]+)/.exec(error.code)?.[1] ?? codesOfFiles[error.code]
}

/** As the file system names what SQLite has a code for. */
const codesOfFiles: Readonly<Record<string, string>> = {
  EACCES: 'READONLY',
  EPERM: 'READONLY',
  EROFS: 'READONLY',
  ENOSPC: 'FULL',
  EDQUOT: 'FULL',
}
