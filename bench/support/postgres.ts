/**
 * A PostgreSQL to measure on: a durable one on the server's core (`fsync` and `synchronous_commit` on) that is removed afterwards, or the
 * one that is named. The programs are those that the tests use.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchPostgres } from '../../packages/server/test/postgres/launch-postgres.ts'
import type { LaunchedPostgres } from '../../packages/server/test/postgres/launch-postgres.ts'
import { serverCore, usageOf } from './pinned.ts'

export interface PostgresOptions {
  /** Measure on this server; its settings and its core are the caller's business, and its processes are not known. */
  readonly url?: string | undefined
  /** A list as `taskset -c` reads it. Default: the server's core. */
  readonly core?: number | string
  /** On top of the defaults, as in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>
  /** A folder with `initdb` and `postgres`. Default: those that npm carries. */
  readonly binFolder?: string | undefined
}

export interface RunningPostgres extends AsyncDisposable {
  /** The address of an empty database, as superuser, on this server or the named one. */
  readonly url: string
  /** The server and all its present processes; none if an address was given. */
  pids(): readonly number[]
  /** Processor time of the server since its start, in seconds, including connections that have ended; 0 if an address was given. */
  cpuS(): number
}

/** Small enough for a machine that does other work, large enough to keep the hot part of a bench in memory. */
const benchSettings: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  max_connections: '200',
  autovacuum_naptime: '1min',
}

export async function startPostgres(options: PostgresOptions = {}): Promise<RunningPostgres> {
  const { url, core = serverCore, settings, binFolder } = options
  if (url !== undefined) {
    return { url, pids: () => [], cpuS: () => 0, [Symbol.asyncDispose]: () => Promise.resolve() }
  }
  const server = await launchPostgres({ binFolder, settings: { ...benchSettings, ...settings } })
  const main = serverPid(server)
  const pids = (): readonly number[] => [main, ...childrenOf(main)]
  // Processes that it starts from now on inherit this.
  for (const pid of pids()) execFileSync('taskset', ['-acp', String(core), String(pid)])
  return {
    url: server.url(),
    pids,
    cpuS: () => reapedCpuS(main) + pids().reduce((sum, pid) => sum + liveCpuS(pid), 0),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function serverPid(server: LaunchedPostgres): number {
  return Number(readFileSync(join(server.dataFolder, 'postmaster.pid'), 'utf8').split('\n')[0])
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

function liveCpuS(pid: number): number {
  try {
    return usageOf(pid).cpuS
  } catch {
    // It has ended meanwhile, and is in the next reading of reaped processes.
    return 0
  }
}

/** For children that have ended and were waited for: fields 14 and 15 after the name, in hundredths of a second. */
function reapedCpuS(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) / 100
}
