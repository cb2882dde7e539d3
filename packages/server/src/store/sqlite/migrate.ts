/** Brings a store's file to the schema this program knows, from any number of processes at once. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf, StorageRefusal, madeBefore } from '../../sql/storage-errors.ts'
import { pageSize } from '../../sql/sqlite/connection.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'

/** In the file's header ('PEVS'), so that another program's SQLite file is never taken for a store. */
const applicationId = 0x50455653

/** What stood there before 0.1.0 ('PEVT'). */
const applicationIdBefore = 0x50455654

/** In order; the number of applied ones is the file's `user_version`. */
export const migrations: readonly URL[] = [
  new URL('../../sql/migrations/0001-baseline.sqlite.sql', import.meta.url),
]

/** The schema this program reads and writes. */
export const knownSchemaVersion = migrations.length

/**
 * Applies the missing migrations, each in one immediate transaction that reads the version again under its lock. Refuses a file that is
 * not a store (`not_a_store`), one from before 0.1.0 (`made_before`) and one of a newer program (`newer_schema`). `onCreate` fills a new store, in the transaction that creates
 * it. `steps`: all, if left out.
 */
export async function migrate(
  db: Connection,
  onCreate: (() => void) | undefined,
  steps: readonly URL[] = migrations,
): Promise<void> {
  const known = steps.length
  // In one transaction: otherwise another process could create the store in between.
  const version = db.transaction(() => versionOf(db, known)).deferred()
  if (version === 0 && onCreate === undefined) throw notAStore(db.name)
  if (version === 0) await useWal(db)
  const apply = db.transaction(() => {
    const from = versionOf(db, known)
    for (const [index, step] of steps.entries()) {
      if (index < from) continue
      db.exec(readFileSync(step, 'utf8'))
      if (index === 0) {
        db.pragma(`application_id = ${applicationId}`)
        onCreate?.()
      }
      db.pragma(`user_version = ${index + 1}`)
    }
  })
  if (version < known) apply.immediate()
  // A copy made by `backup` is not in WAL mode yet.
  if (db.pragma('journal_mode', { simple: true }) !== 'wal') await useWal(db)
}

function versionOf(db: Connection, known: number): number {
  const id = db.pragma('application_id', { simple: true })
  const version = Number(db.pragma('user_version', { simple: true }))
  const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get() ?? 0
  if (id === 0 && version === 0 && tables === 0) return 0
  if (isMadeBefore(db)) throw madeBefore(db.name, 'data folder')
  if (id !== applicationId) throw notAStore(db.name)
  if (version > known) {
    throw new StorageRefusal(
      'newer_schema',
      `The store ${db.name} has schema ${version}, and this program knows schemas up to ${known}. ` +
        'Start the newer program that wrote it, or restore a backup made before.',
    )
  }
  return version
}

export function isMadeBefore(db: Connection): boolean {
  return db.pragma('application_id', { simple: true }) === applicationIdBefore
}

export function notAStore(file: string): StorageRefusal {
  return new StorageRefusal(
    'not_a_store',
    `There is no Property Events store in ${file}. Name the data folder of one, or an empty folder for a new one.`,
  )
}

/** Several processes may create the same store. Changing the journal mode needs exclusive access to the file and does not wait for it. */
async function useWal(db: Connection): Promise<void> {
  const triesAtMost = 200
  for (let tries = 1; ; tries += 1) {
    try {
      db.pragma(`page_size = ${pageSize}`)
      db.pragma('journal_mode = WAL')
      return
    } catch (error) {
      const busy = codeOf(error)?.startsWith('SQLITE_BUSY') === true
      if (!busy || tries === triesAtMost) throw error
      await delay(25)
    }
  }
}
