/**
 * Rewrites the tables that hold payloads or data derived from them, so that their files hold nothing that was reduced (D17). It uses
 * VACUUM FULL, which alone keeps what transactions under way may see: a running backup would find a table empty that was refilled in any
 * other way.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf, StorageRefusal } from '../../sql/storage-errors.ts'
import type { Database } from '../../sql/postgres/connection.ts'
import type { Session, Statement } from '../../sql/postgres/session.ts'
import { heldSnapshots } from './held-snapshots.ts'
import type { HeldSnapshotRow } from './held-snapshots.ts'

/** The large one comes last. */
const statistics = 'pg_catalog.pg_statistic'
const tables = [statistics, 'actor_name', 'subject', 'event_id', 'kept_event', 'event'] as const

const setLockWait: Statement = {
  name: 'rewrite-lock-wait',
  text: `SELECT set_config('lock_timeout', $1, false)`,
}

const readState: Statement = {
  name: 'rewrite-state',
  text: `SELECT
      (SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class
        WHERE oid = ANY (ARRAY['subject', 'event_id', 'kept_event', 'event']::regclass[])) AS owns_tables,
      (SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()) AS owns_database,
      (SELECT relowner::regrole::text FROM pg_class WHERE oid = 'event'::regclass) AS owner, current_user::text AS role,
      current_setting('vacuum_defer_cleanup_age', true) AS deferred`,
}

interface StateRow {
  readonly owns_tables: boolean
  readonly owns_database: boolean
  readonly owner: string
  readonly role: string
  readonly deferred: string | null
  readonly [column: string]: unknown
}

export async function rewriteTables(database: Database): Promise<void> {
  await database.longSession(async (session) => {
    await checkRole(session)
    await session.query(setLockWait, [`${lockWaitMs}ms`])
    try {
      await rewriteAll(session)
    } finally {
      await session.query(setLockWait, ['0'])
    }
  })
}

async function rewriteAll(session: Session): Promise<void> {
  const hasSamples = (await session.query(findSamples, [])).length > 0
  if (hasSamples) await patiently(() => session.script(forgetSamples))
  const [barrier] = await session.query<{ xid: string }>(takeBarrier, [])
  const xid = barrier?.xid ?? ''
  for (const table of tables) {
    // Before each: an old state that something has come to hold meanwhile would be copied.
    await untilForgotten(session, xid, hasSamples && table === statistics)
    await patiently(() => session.script(`VACUUM (FULL) ${table}`))
  }
  await untilForgotten(session, xid, false)
}

/** VACUUM skips a table that the role may not rewrite, with a warning. */
async function checkRole(session: Session): Promise<void> {
  const [found] = await session.query<StateRow>(readState, [])
  if (found === undefined) throw new Error('the server gave no answer')
  const { owns_tables: ownsTables, owns_database: ownsDatabase, owner, role, deferred } = found
  if (!ownsTables) {
    throw new StorageRefusal(
      'not_permitted',
      `The role ${role} may not rewrite tables of ${owner}. Run the command with the address of ${owner}, or of a superuser.`,
    )
  }
  if (!ownsDatabase) {
    throw new StorageRefusal(
      'not_permitted',
      `The role ${role} does not own the database, whose statistics may hold pieces of payloads. Run the command with the address ` +
        'of a role that owns both the tables and the database, or of a superuser.',
    )
  }
  if (Number(deferred ?? 0) > 0) {
    throw new StorageRefusal(
      'in_use',
      'vacuum_defer_cleanup_age keeps old rows alive: set it to 0 for the time of this command (ALTER SYSTEM, pg_reload_conf()).',
    )
  }
}

/** A transaction after all those that have reduced something. VACUUM FULL copies what an earlier snapshot may see. */
const takeBarrier: Statement = {
  name: 'rewrite-barrier',
  text: 'SELECT pg_current_xact_id()::xid::text AS xid',
}
const readBarrier: Statement = { name: 'rewrite-barrier-age', text: 'SELECT age($1::text::xid) AS age' }
const patienceMs = 60_000
const checkEveryMs = 200

/** `ofCatalog`: anything that only keeps versions of the catalogues counts as well. */
async function untilForgotten(session: Session, barrier: string, ofCatalog: boolean): Promise<void> {
  for (const giveUpAt = performance.now() + patienceMs; ;) {
    const held = await session.query<HeldSnapshotRow & Record<string, unknown>>(heldSnapshots, [])
    const [now] = await session.query<{ age: number }>(readBarrier, [barrier])
    const old = held.filter(
      ({ holder, transactions }) =>
        (ofCatalog || holder !== 'catalog_slot') && transactions > (now?.age ?? 0),
    )
    const [first] = old
    if (first === undefined) return
    if (performance.now() > giveUpAt) {
      throw new StorageRefusal(
        'in_use',
        `Something still reads an earlier state of the store (${first.holder}: ${first.name}), perhaps a backup, and PostgreSQL would copy that state, too. Run ` +
          'compact again when it has ended, or end it.',
      )
    }
    await delay(checkEveryMs)
  }
}

/**
 * ANALYZE takes samples of the values of hashes, and of any column that it is told to; it keeps them when it is told to take no more. A column that is given
 * its own type again loses them; nothing is rewritten for that, and the column's other settings are set again.
 */
const sampled = `
    FROM pg_attribute a
    JOIN (VALUES ('event', 'json'), ('event', 'branch'), ('event_id', 'content_hash'), ('subject', 'branch'),
      ('subject', 'payload_hash'), ('subject', 'update_date_hash')) AS known (relation, name) ON a.attrelid = to_regclass(known.relation) AND a.attname = known.name
    WHERE coalesce(a.attstattarget, -1) <> 0 OR EXISTS (
      SELECT FROM pg_stats s
      WHERE s.schemaname = current_schema() AND s.tablename = known.relation AND s.attname = known.name
    )`
const findSamples: Statement = { name: 'rewrite-samples', text: `SELECT a.attname ${sampled}` }
const forgetSamples = `DO $$
DECLARE c record;
BEGIN
  FOR c IN
    SELECT a.attrelid::regclass AS relation, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
      CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END AS storage,
      CASE a.attcompression WHEN 'l' THEN 'lz4' WHEN 'p' THEN 'pglz' END AS compression ${sampled}
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s', c.relation, c.name, c.type);
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STORAGE %s, ALTER COLUMN %I SET STATISTICS 0', c.relation, c.name,
      c.storage, c.name);
    IF c.compression IS NOT NULL THEN
      EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET COMPRESSION %s', c.relation, c.name, c.compression);
    END IF;
  END LOOP;
END $$`

const attemptsAtMost = 20
const attemptPauseMs = 2_000
/** Longer than `deadlock_timeout` (1 s by default in PostgreSQL): only then is an autovacuum in the way told to stop. */
const lockWaitMs = 1_500

/**
 * Waits for the lock 1.5 s at a time, because all statements of others queue after a waiting one. PostgreSQL's code is then
 * `lock_not_available`.
 */
async function patiently(run: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (codeOf(error) !== '55P03') throw error
      if (attempt === attemptsAtMost) {
        throw new StorageRefusal(
          'in_use',
          'A long transaction holds a table that must be rewritten. End it (pg_stat_activity shows it), or wait for it, and run compact again.',
        )
      }
      await delay(attemptPauseMs)
    }
  }
}
