/** Brings a store's file to the schema this program knows, from any number of processes at once. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../error-code.ts'
import { StorageRefusal } from '../storage.ts'
import { pageSize } from './connection.ts'
import type { Connection } from './connection.ts'

/** In the file's header ('PEVT'), so that another program's SQLite file is never taken for a store. */
const applicationId = 0x50455654

/** In order; the number of applied ones is the file's `user_version`. */
const migrations: readonly string[] = [
  '0001-initial.sql',
  '0002-event-subject.sql',
  '0003-skipped-ids.sql',
  '0004-event-checksum.sql',
  '0005-subject-spelling.sql',
  '0006-nodes.sql',
  '0007-waiting-feeds.sql',
  '0008-moving-tenants.sql',
  '0009-audit.sql',
  '0010-key-rates.sql',
  '0011-sent.sql',
  '0012-erasures.sql',
  '0013-holds.sql',
  '0014-keys-version.sql',
  '0015-recipients.sql',
  '0016-restrictions.sql',
  '0017-retention.sql',
  '0018-expiry.sql',
  '0019-administration.sql',
  '0020-current-lists.sql',
  '0021-leaving.sql',
  '0022-live-counts.sql',
  '0023-branch-grants.sql',
  '0024-branch-views.sql',
  '0025-deleting-tenants.sql',
  '0026-actor-names.sql',
  '0027-usage.sql',
  '0028-publications.sql',
  '0029-consumers.sql',
  '0030-console-sessions.sql',
  '0031-silence.sql',
  '0032-warning-places.sql',
  '0033-late-results.sql',
  '0034-references.sql',
]

/** The schema this program reads and writes. */
export const knownSchemaVersion = migrations.length

/**
 * Applies the missing migrations, each in one immediate transaction that reads the version again under its lock. Refuses a file that is
 * not a store (`not_a_store`) and one of a newer program (`newer_schema`). `onCreate` fills a new store, in the transaction that creates
 * it.
 */
export async function migrate(db: Connection, onCreate: (() => void) | undefined): Promise<void> {
  // In one transaction: otherwise another process could create the store in between.
  const version = db.transaction(() => versionOf(db)).deferred()
  if (version === 0 && onCreate === undefined) throw notAStore(db.name)
  if (version === 0) await useWal(db)
  const apply = db.transaction(() => {
    for (let from = versionOf(db); from < migrations.length; from += 1) {
      db.exec(readFileSync(new URL(`./migrations/${migrations[from]}`, import.meta.url), 'utf8'))
      if (from === 0) {
        db.pragma(`application_id = ${applicationId}`)
        onCreate?.()
      }
      db.pragma(`user_version = ${from + 1}`)
    }
  })
  if (version < migrations.length) apply.immediate()
  // A copy made by `backup` is not in WAL mode yet.
  if (db.pragma('journal_mode', { simple: true }) !== 'wal') await useWal(db)
}

function versionOf(db: Connection): number {
  const id = db.pragma('application_id', { simple: true })
  const version = Number(db.pragma('user_version', { simple: true }))
  const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get() ?? 0
  if (id === 0 && version === 0 && tables === 0) return 0
  if (id !== applicationId) throw notAStore(db.name)
  if (version > migrations.length) {
    throw new StorageRefusal(
      'newer_schema',
      `The store ${db.name} has schema ${version}, and this program knows schemas up to ${migrations.length}. ` +
        'Start the newer program that wrote it, or restore a backup made before.',
    )
  }
  return version
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
