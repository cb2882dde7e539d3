/** Brings a database to the schema this program knows, from any number of nodes at once, while others publish and read. */
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf, StorageRefusal, madeBefore } from '../../sql/storage-errors.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { Session, Statement } from '../../sql/postgres/session.ts'
import { shareWithNodes } from './node-rights.ts'
import { inTransaction, runBeside, runFiles, runInside } from './migration-steps.ts'
import type { Migration } from './migration-steps.ts'

const fileOf = (name: string): URL => new URL(`../../sql/migrations/${name}`, import.meta.url)

/** Fills a new store with its settings, in the transaction that creates it, after the first step; later ones then change its rows. */
export type FillStore = (session: Session) => Promise<void>

/** In order; the number of those applied is the store's `schema_version`. */
export const migrations: readonly Migration[] = [
  { files: [fileOf('0001-baseline.postgres.sql'), fileOf('0001-functions.postgres.sql')] },
]

/** Any number that other programs in the same database are unlikely to lock ('PEVT'). */
const lockNumber = 1346721364
const lockIfFree: Statement = {
  name: 'migrate-lock-if-free',
  text: `SELECT pg_try_advisory_lock(${lockNumber}) AS locked`,
}
const unlock: Statement = { name: 'migrate-unlock', text: `SELECT pg_advisory_unlock(${lockNumber})` }
const lockPauseMs = 200

/** A migration that has to wait for a table gives up and tries again, because statements of other sessions would queue after it. */
const patience: Statement = {
  name: 'migrate-patience',
  text: `SELECT set_config('lock_timeout', '3s', true)`,
}
const attemptsAtMost = 10
const attemptPauseMs = 2_000

/** A table of an extension, such as the views of pg_stat_statements, does not make the schema another program's. */
const readState: Statement = {
  name: 'migrate-state',
  text: `SELECT to_regclass('store') IS NOT NULL AS present, current_setting('server_version_num')::integer AS server,
    current_user::text AS "user", current_database()::text AS database, current_schema()::text AS schema, EXISTS (
      SELECT FROM pg_attribute WHERE attrelid = to_regclass('store') AND attname = 'begun_with'
    ) AS marked, (
      SELECT count(*) FROM pg_class c WHERE relkind IN ('r', 'p', 'v') AND relnamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
    ) AS relations, (
      SELECT relowner::regrole::text FROM pg_class WHERE oid = to_regclass('store')
    ) AS owner`,
}
const readVersion: Statement = {
  name: 'migrate-version',
  text: 'SELECT schema_version, unfinished FROM store',
}
const setVersion: Statement = {
  name: 'migrate-set-version',
  text: `UPDATE store SET schema_version = $1, unfinished = unfinished || $2::text[]`,
}
const setFinished: Statement = {
  name: 'migrate-set-finished',
  text: 'UPDATE store SET unfinished = array_remove(unfinished, $1)',
}

interface MigrateOptions {
  /** All steps, if left out. */
  readonly steps?: readonly Migration[]
  /** Called with a sentence for the log before it waits for another process, or begins something long. */
  readonly onWaiting?: ((reason: string) => void) | undefined
}

/**
 * Applies the missing steps, under an advisory lock: one of twenty nodes migrates, and the others wait and find it done. Each step is a
 * short transaction; long work follows, while nodes publish and read. If it is interrupted anywhere, the next start continues. Refuses a
 * database that holds something else (`not_a_store`), a store from before 0.1.0 (`made_before`), a newer program's (`newer_schema`), a
 * server that is too old (`old_server`) and a role that may not do it (`not_permitted`). Without `filling` a missing store is refused.
 */
export async function migrate(
  database: Database,
  filling: FillStore | undefined,
  { steps = migrations, onWaiting }: MigrateOptions = {},
): Promise<void> {
  // Checked first without a lock, because it is nearly always up to date.
  const before = await database.write((session) => stateOf(session, steps.length))
  if (isUpToDate(before, steps)) return
  if (before.version === 0 && filling === undefined) throw notAStore()
  await database.longSession(async (session) => {
    await takeLock(session, onWaiting)
    try {
      const { version } = await stateOf(session, steps.length)
      if (version === 0) await make(session, steps, filling)
      else await update(session, steps, version)
      await finish(session, steps, onWaiting)
    } catch (error) {
      throw permissionRefusal(error, before) ?? error
    } finally {
      await session.query(unlock, []).catch(() => undefined)
    }
  })
}

/** Polls for the lock: an index that is built concurrently would wait for a waiting statement. */
async function takeLock(session: Session, onWaiting?: (reason: string) => void): Promise<void> {
  for (let isAnnounced = false; ; isAnnounced = true) {
    const [answer] = await session.query<{ locked: boolean }>(lockIfFree, [])
    if (answer?.locked === true) return
    if (!isAnnounced)
      onWaiting?.('Another process is making this store, or bringing it up to date: waiting for it.')
    await delay(lockPauseMs)
  }
}

function make(session: Session, steps: readonly Migration[], filling: FillStore | undefined): Promise<void> {
  return inTransaction(session, async () => {
    for (const [index, step] of steps.entries()) {
      await runFiles(session, step)
      for (const part of step.afterwards ?? []) await runInside(session, part)
      if (index === 0) await filling?.(session)
    }
    await session.script(shareWithNodes)
    await session.query(setVersion, [steps.length, '{}'])
  })
}

async function update(session: Session, steps: readonly Migration[], version: number): Promise<void> {
  for (const [index, step] of steps.entries()) {
    if (index < version) continue
    const left = (step.afterwards ?? []).map(({ name }) => name)
    await withoutCrowding(() =>
      inTransaction(session, async () => {
        await session.query(patience, [])
        await runFiles(session, step)
        // Last, because it locks the table that a node reads when it starts, and a step may take longer than that node waits.
        await session.query(setVersion, [index + 1, `{${left.join(',')}}`])
      }),
    )
  }
}

/** Runs it again if a table was not available; PostgreSQL's code is then `lock_not_available`. */
async function withoutCrowding(run: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run()
      return
    } catch (error) {
      if (codeOf(error) !== '55P03') throw error
      if (attempt === attemptsAtMost) {
        throw new StorageRefusal(
          'in_use',
          'The schema cannot be changed, because a long transaction holds its tables. End it (pg_stat_activity shows it), ' +
            'or wait for it, and start again.',
        )
      }
      await delay(attemptPauseMs)
    }
  }
}

async function finish(
  session: Session,
  steps: readonly Migration[],
  onWaiting?: (reason: string) => void,
): Promise<void> {
  const { unfinished } = await stateOf(session, steps.length)
  const parts = steps.flatMap(({ afterwards = [] }) => afterwards)
  for (const name of unfinished) {
    const part = parts.find((candidate) => candidate.name === name)
    if (part === undefined) throw new Error(`no step is called ${name}`)
    onWaiting?.(
      `Bringing the store up to date (${name}). A large store takes longer. This waits for transactions ` +
        'that are under way, such as a backup; running nodes carry on.',
    )
    await runBeside(session, part)
    await session.query(setFinished, [name])
  }
}

interface State {
  /** 0: there is no store, and room for one. */
  readonly version: number
  /** Names of what is still to be done of the steps up to it. */
  readonly unfinished: readonly string[]
  readonly user: string
  readonly owner: string | undefined
}

function isUpToDate({ version, unfinished }: State, steps: readonly Migration[]): boolean {
  return version === steps.length && unfinished.length === 0
}

interface StateRow {
  readonly present: boolean
  /** It has what every store since 0.1.0 has. */
  readonly marked: boolean
  readonly server: number
  readonly database: string
  readonly schema: string
  readonly user: string
  readonly relations: string
  readonly owner: string | null
}

async function stateOf(session: Session, known: number): Promise<State> {
  const [found] = await session.query<StateRow & Record<string, unknown>>(readState, [])
  if (found === undefined) throw new Error('the server gave no answer')
  const { user, owner } = found
  const refusal = serverRefusal(found.server)
  if (refusal !== undefined) throw refusal
  if (!found.present) {
    if (found.relations !== '0') throw notAStore()
    return { version: 0, unfinished: [], user, owner: undefined }
  }
  if (!found.marked)
    throw madeBefore(`the schema ${found.schema} of the database ${found.database}`, 'database or schema')
  const [row] = await session.query<{ schema_version: number; unfinished: readonly string[] }>(
    readVersion,
    [],
  )
  const version = row?.schema_version ?? 0
  if (version > known) {
    throw new StorageRefusal(
      'newer_schema',
      `The database has schema ${version}, and this program knows schemas up to ${known}. Start the newer program ` +
        'that wrote it, or restore a backup made before.',
    )
  }
  return { version, unfinished: row?.unfinished ?? [], user, owner: owner ?? undefined }
}

/** `insufficient_privilege`: PostgreSQL names the table, which does not help an operator. */
function permissionRefusal(error: unknown, { user, owner, version }: State): StorageRefusal | undefined {
  if (codeOf(error) !== '42501') return undefined
  const what =
    version === 0
      ? `The role ${user} may not make a store in this schema. As its owner: GRANT CREATE, USAGE ON SCHEMA … TO ${user}.`
      : `The store must be brought up to date, which the role ${user} may not do. Run any command of this version once as ${owner ?? 'its owner'} ` +
        '(`property-events tenants list`), then start this one again; nodes of the previous version keep running meanwhile.'
  return new StorageRefusal('not_permitted', what)
}

function notAStore(): StorageRefusal {
  return new StorageRefusal(
    'not_a_store',
    'There is no Property Events store in this database. Name the database of one, or an empty database for a new one.',
  )
}

const oldestServer = 15
/** The newest version that the tests were run on. */
const newestServer = 18

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
