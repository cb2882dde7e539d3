/** A standby of a running server, made with nothing but SQL and copied files: npm's PostgreSQL has no pg_basebackup. */
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { until } from '../../support/until.ts'
import { giveToServer } from '../launch-postgres.ts'
import type { LaunchedPostgres } from '../launch-postgres.ts'

export async function startStandby(primary: LaunchedPostgres): Promise<LaunchedPostgres> {
  const standby = await primary.prepareSibling()
  await withClient(primary.url(), async (client) => {
    await client.query(`SELECT pg_backup_start('standby', true)`)
    await copyLiveFolder(primary.dataFolder, standby.dataFolder)
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)')
    await writeFile(join(standby.dataFolder, 'backup_label'), rows[0]?.labelfile ?? '')
    await writeFile(join(standby.dataFolder, 'standby.signal'), '')
    const host = dirname(primary.socketFile)
    const conninfo = `host=${host} port=5432 user=postgres application_name=standby`
    await writeFile(join(standby.dataFolder, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
  })
  await giveToServer(standby.dataFolder)
  await standby.start()
  return standby
}

const ofTheProcess = new Set(['postmaster.pid', 'postmaster.opts'])

/**
 * The server goes on removing files meanwhile, and copying a whole folder fails at the first that has gone. A standby does not need it:
 * what it was removed for is in the log that is replayed.
 */
async function copyLiveFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  const entries = await unlessGone(readdir(from, { withFileTypes: true }))
  for (const entry of entries ?? []) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyLiveFolder(source, target)
    else if (!ofTheProcess.has(entry.name)) await unlessGone(copyFile(source, target))
  }
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** From here on a commit of the primary is answered when the standby has it on disk. */
export async function replicateSynchronously(primary: LaunchedPostgres): Promise<void> {
  await withClient(primary.url(), async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`)
    await client.query('SELECT pg_reload_conf()')
    await untilRow(client, `SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)
  })
}

/** The standby takes over. Its own standbys would be the operator's business: it commits alone. */
export async function promote(standby: LaunchedPostgres): Promise<void> {
  await withClient(standby.url(), async (client) => {
    await client.query('SELECT pg_promote(true, 20)')
    await untilRow(client, 'SELECT WHERE NOT pg_is_in_recovery()')
  })
}

/** Resolves when the standby shows everything that the primary has flushed by now. */
export async function untilReplayed(primary: LaunchedPostgres, standby: LaunchedPostgres): Promise<void> {
  const at = await withClient(primary.url(), async (client) => {
    const { rows } = await client.query<{ lsn: string }>('SELECT pg_current_wal_flush_lsn()::text AS lsn')
    return rows[0]?.lsn ?? ''
  })
  await withClient(standby.url(), async (client) => {
    const reached = 'SELECT WHERE pg_last_wal_replay_lsn() >= $1::pg_lsn'
    const isReached = async () => (await client.query(reached, [at])).rowCount !== 0
    await until(isReached, { what: `the replay of ${at}` })
  })
}

/** Resolves once the query gives a row. */
export async function untilRow(client: Client, query: string, timeoutMs = 30_000): Promise<void> {
  await until(async () => (await client.query(query)).rowCount !== 0, {
    what: `a row of ${query}`,
    timeoutMs,
  })
}

export async function withClient<T>(url: string, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}
