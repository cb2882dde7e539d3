/** Tables in an SQLite file, which a website reads meanwhile. */
import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { takeFileLock } from '@property-events/server/plain'
import type { FileLock } from '@property-events/server/plain'
import Database from 'better-sqlite3'
import { plainText } from '@property-events/protocol'
import { heldOf, lockedByAnother, TablesAway, TablesRefusal } from './listing-tables.ts'
import type { ListingTables } from './listing-tables.ts'
import { prepareTables, sqliteDialect, versionQuery } from './schema.ts'
import type { SchemaSession } from './schema.ts'
import { numberOf, prepared, prepareStatements, referencesAtOnce, writeBatch } from './sqlite-write.ts'
import { tableNames } from './table-names.ts'
import type { TableNames } from './table-names.ts'

/** Opens the file, or makes it, and takes the lock of its tables. Throws a `TablesRefusal` when another sync has it. */
export async function openSqliteTables(file: string, prefix: string): Promise<ListingTables> {
  const names = tableNames(prefix)
  const lock = takeLock(file, prefix)
  try {
    const db = open(file)
    await guarded(file, () => prepareTables(schemaSession(db, names), names, sqliteDialect))
    return tablesOf(db, names, file, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

function tablesOf(db: Database.Database, names: TableNames, file: string, lock: FileLock): ListingTables {
  const statements = prepareStatements(db, names)
  /** Of each tenant, as it was loaded or written last. */
  const writes = new Map<string, number>()
  return {
    load: (tenant) =>
      guarded(file, () => {
        const row = statements.load.get({ tenant })
        writes.set(tenant, Number(row?.['writes'] ?? 0))
        if (row === undefined) return undefined
        return {
          checkpoint: JSON.parse(String(row['checkpoint'])),
          rowsVersion: Number(row['rows_version']),
          isLost: row['is_lost'] === 1,
        }
      }),
    write: (batch) =>
      guarded(file, () => {
        const before = writes.get(batch.tenant) ?? 0
        inTransaction(db, () => writeBatch(statements, batch, before))
        writes.set(batch.tenant, before + 1)
        // Erased data stays in the log until the log is written into the file and emptied.
        if (batch.removed.some(({ is_erased: isErased }) => isErased === true)) emptyLog(db)
      }),
    recordCaughtUp: (tenant, nowMs) =>
      guarded(file, () => void statements.caughtUp.run(new Date(nowMs).toISOString(), tenant)),
    count: (tenant) => guarded(file, () => numberOf(statements.count.get(tenant))),
    countOf: (tenant, references) =>
      guarded(file, () => numberOf(statements.countOf.get(tenant, JSON.stringify(references)))),
    async *references(tenant) {
      for (let after = ''; ;) {
        const rows = statements.references.all(tenant, after)
        yield* rows.map((row) => String(row['reference']))
        if (rows.length < referencesAtOnce) return
        after = String(rows.at(-1)?.['reference'])
      }
    },
    async *held(tenant) {
      for (let after = ''; ;) {
        const rows = statements.held.all(tenant, after)
        yield* rows.map(heldOf)
        if (rows.length < referencesAtOnce) return
        after = String(rows.at(-1)?.['reference'])
      }
    },
    async close() {
      db.close()
      lock.release()
    },
  }
}

function takeLock(file: string, prefix: string): FileLock {
  try {
    const lock = takeFileLock(`${realFile(file)}.${prefix}sync.lock`, 0o600)
    if (lock !== undefined) return lock
  } catch (error) {
    // A disk that is full or broken is one for the tables as well.
    const isLocking =
      error instanceof Error && 'code' in error && /^SQLITE_(?!FULL$|IOERR_WRITE$)/.test(String(error.code))
    if (!isLocking) throw sqliteError(file, error)
    throw new TablesRefusal(
      `${plainText(file)} cannot be locked (${plainText(error.message)}), so a second sync could get in the way. Use a local disk.`,
      { cause: error },
    )
  }
  throw lockedByAnother(plainText(file))
}

/** One file by two names is one set of tables. */
function realFile(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return join(realpathSync(dirname(file)), basename(file))
  }
}

function open(file: string): Database.Database {
  try {
    refuseReadOnly(file)
    const db = new Database(file, { timeout: busyMs })
    // What is deleted becomes zeros in the file, which an erasure needs. A batch that a power cut takes is read again.
    db.exec('PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL;')
    // With a write-ahead log readers wait for nobody. A file that holds tables of others keeps its way.
    const isNew = numberOf(prepared(db, 'SELECT count(*) AS n FROM sqlite_schema').get()) === 0
    if (isNew) db.exec('PRAGMA journal_mode = WAL')
    return db
  } catch (error) {
    throw sqliteError(file, error)
  }
}

/**
 * Throws for a file that this user may not write. SQLite would open it, and leave a read-only index of its log beside it, for
 * which the file could not be written after its permissions are right again.
 */
function refuseReadOnly(file: string): void {
  if (existsSync(file)) closeSync(openSync(file, 'r+'))
}

function schemaSession(db: Database.Database, names: TableNames): SchemaSession {
  return {
    async existing(all) {
      const rows = prepared(
        db,
        'SELECT lower(name) AS name FROM sqlite_schema WHERE lower(name) IN (SELECT value FROM json_each(?))',
      ).all(JSON.stringify(all))
      return rows.map((row) => String(row['name']))
    },
    async version() {
      const columns = prepared(db, 'SELECT name FROM pragma_table_info(?)')
        .all(names.all[0] ?? '')
        .map((row) => row['name'])
      if (!columns.includes('program') || !columns.includes('version')) return undefined
      const version = prepared(db, versionQuery(names)).get()?.['version']
      return typeof version === 'number' ? version : undefined
    },
    async transaction(statements) {
      inTransaction(db, () => {
        for (const statement of statements) db.exec(statement)
      })
    },
  }
}

function inTransaction(db: Database.Database, run: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    run()
    db.exec('COMMIT')
  } catch (error) {
    // A full disk may have ended the transaction already.
    if (db.inTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Where a reader still needs what the log has, a later writing empties it. */
function emptyLog(db: Database.Database): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** How long a statement waits for another program that is writing to the file. */
const busyMs = 10_000

/** Runs statements; an error of theirs becomes a `TablesRefusal`, or a `TablesAway` where waiting may help. */
async function guarded<T>(file: string, run: () => T | Promise<T>): Promise<T> {
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

function sqliteError(file: string, error: unknown): unknown {
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
