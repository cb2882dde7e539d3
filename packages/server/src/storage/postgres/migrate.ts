/** Brings a database to the schema this program knows, from any number of nodes at once. */
import { readFileSync } from 'node:fs'
import { StorageRefusal } from '../storage.ts'
import type { Database, Session, Statement } from './connection.ts'

/** One step to the next version, in one transaction. */
export interface Migration {
  readonly files: readonly URL[]
}

const filesOf = (...names: readonly string[]): Migration => ({
  files: names.map((name) => new URL(`./migrations/${name}`, import.meta.url)),
})

/** Fills a new store, in the transaction that makes it: with its settings, or from a backup. */
export interface FillStore {
  /** The schema it fills; later steps then change what it has put there. */
  readonly schemaVersion: number
  fill(session: Session): Promise<void>
}

/** In order; the number of those applied is the store's `schema_version`. */
export const migrations: readonly Migration[] = [
  filesOf('0001-tables.sql', '0001-functions.sql'),
  filesOf('0002-event-subject.sql'),
  filesOf('0003-append-event.sql'),
  filesOf('0004-idle-polls.sql'),
  filesOf('0005-skipped-ids.sql'),
  filesOf('0006-subject-spelling.sql'),
  filesOf('0007-time-reservation.sql'),
]

/** Any number that other programs in the same database are unlikely to lock ('PEVT'). */
const lockNumber = 1346721364
const lock: Statement = { name: 'migrate-lock', text: `SELECT pg_advisory_xact_lock(${lockNumber})` }
const lockIfFree: Statement = {
  name: 'migrate-lock-if-free',
  text: `SELECT pg_try_advisory_xact_lock(${lockNumber}) AS locked`,
}
/** A migration that has to wait for a table gives up rather than make everybody else wait behind it. */
const patience: Statement = {
  name: 'migrate-patience',
  text: `SELECT set_config('lock_timeout', '3s', true)`,
}
const hasStore: Statement = {
  name: 'migrate-has-store',
  text: `SELECT to_regclass('store') IS NOT NULL AS present, (
    SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p', 'v') AND relnamespace = current_schema()::regnamespace
  ) AS relations`,
}
const readVersion: Statement = { name: 'migrate-version', text: 'SELECT schema_version FROM store' }
const setVersion: Statement = { name: 'migrate-set-version', text: 'UPDATE store SET schema_version = $1' }

export interface MigrateOptions {
  /** All there are, if left out. */
  readonly steps?: readonly Migration[]
  /** Told with a sentence for the log before it waits for another process, however long that takes. */
  readonly onWaiting?: ((reason: string) => void) | undefined
}

/**
 * Applies what is missing, all in one transaction under an advisory lock: of twenty nodes one migrates and the others
 * wait and find it done. Refuses a database that holds something else (`not_a_store`) and a newer program's (`newer_schema`).
 * Without `filling` a missing store is refused. True when this call has made the store.
 */
export async function migrate(
  database: Database,
  filling: FillStore | undefined,
  { steps = migrations, onWaiting }: MigrateOptions = {},
): Promise<boolean> {
  // Looked at without a lock first: it is up to date nearly always.
  const version = await database.write((session) => versionOf(session, steps.length))
  if (version === steps.length) return false
  if (version === 0 && filling === undefined) throw notAStore()
  return await database.longTransaction(async (session) => {
    const [look] = await session.query<{ locked: boolean }>(lockIfFree, [])
    if (look?.locked !== true) {
      onWaiting?.('Another process is making this store, or bringing it up to date: waiting for it.')
      await session.query(lock, [])
    }
    await session.query(patience, [])
    const from = await versionOf(session, steps.length)
    for (const [index, { files }] of steps.entries()) {
      if (index < from) continue
      for (const file of files) await session.script(readFileSync(file, 'utf8'))
      if (from === 0 && index + 1 === filling?.schemaVersion) await filling.fill(session)
    }
    if (from < steps.length) await session.query(setVersion, [steps.length])
    return from === 0
  })
}

async function versionOf(session: Session, known: number): Promise<number> {
  const [found] = await session.query<{ present: boolean; relations: string }>(hasStore, [])
  if (found?.present !== true) {
    if (found?.relations === '0') return 0
    throw notAStore()
  }
  const [row] = await session.query<{ schema_version: number }>(readVersion, [])
  const version = row?.schema_version ?? 0
  if (version > known) {
    throw new StorageRefusal(
      'newer_schema',
      `The database has schema ${version}, and this program knows schemas up to ${known}. Start the newer program ` +
        'that wrote it, or restore a backup made before.',
    )
  }
  return version
}

function notAStore(): StorageRefusal {
  return new StorageRefusal(
    'not_a_store',
    'There is no Property Events store in this database. Name the database of one, or an empty database for a new one.',
  )
}
