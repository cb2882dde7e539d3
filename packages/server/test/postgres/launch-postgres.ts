/**
 * Starts a real PostgreSQL for the tests: in a temporary folder, reachable by this user alone through a Unix socket,
 * with `fsync` on, and gone afterwards whatever happens to the process that started it.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, mkdir, readFile, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { programsIn, unpackPrograms } from './postgres-programs.ts'
import type { PostgresPrograms } from './postgres-programs.ts'

export interface LaunchOptions {
  /** A folder with `initdb` and `postgres`; by default those that npm carries. */
  readonly binFolder?: string | undefined
  /** Further words for `initdb`. */
  readonly initdb?: readonly string[]
  /** Server settings, as in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A running server. */
export interface LaunchedPostgres extends AsyncDisposable {
  readonly dataFolder: string
  readonly socketFile: string
  /** The address of a database of this server, as superuser. */
  url(database?: string): string
  /**
   * `fast` ends sessions and writes everything down; `crash` is what a power cut does to the processes. The data stays.
   */
  halt(mode: 'fast' | 'crash'): Promise<void>
  /** After `halt`: starts again on the same data, at the same address. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>
  /** A second server of the same programs, on data the caller puts into its folder before `start`. */
  prepareSibling(): Promise<LaunchedPostgres>
}

/** Runs as root would fail: PostgreSQL refuses. Then everything runs as `nobody`, who owns the temporary folder. */
interface Owner {
  readonly uid: number
  readonly gid: number
}

const nobody: Owner = { uid: 65_534, gid: 65_534 }
const port = 5432
const startLimitMs = 30_000

export async function launchPostgres(options: LaunchOptions = {}): Promise<LaunchedPostgres> {
  const owner = process.getuid?.() === 0 ? nobody : undefined
  const folder = await mkdtemp(join(tmpdir(), 'property-events-postgres-'))
  const guard = startGuard(folder)
  const remove = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true })
    guard.stdin?.end()
  }
  try {
    if (owner !== undefined) await chown(folder, owner.uid, owner.gid)
    const programs =
      options.binFolder === undefined
        ? await carriedPrograms(join(folder, 'programs'))
        : programsIn(options.binFolder)
    const site: Site = { folder, programs, owner, settings: options.settings ?? {} }
    const server = await prepareServer(site, 'first', remove)
    await makeCluster(site, server.dataFolder, options)
    await server.start()
    return server
  } catch (error) {
    await remove()
    throw error
  }
}

interface Site {
  readonly folder: string
  readonly programs: PostgresPrograms
  readonly owner: Owner | undefined
  readonly settings: Readonly<Record<string, string>>
}

/** What a run of all tests makes once for all its files: it names the folder. */
const commonFolder = process.env['PROPERTY_EVENTS_TEST_CLUSTERS']

/** A thousand files, which each server would otherwise have of its own. */
async function carriedPrograms(own: string): Promise<PostgresPrograms> {
  if (commonFolder === undefined) return unpackPrograms(own)
  const common = join(commonFolder, 'programs')
  if (existsSync(common)) return programsIn(join(common, 'bin'))
  const partial = partialName(common)
  await unpackPrograms(partial)
  await rename(partial, common).catch(() => rm(partial, { recursive: true }))
  return programsIn(join(common, 'bin'))
}

let partials = 0

/** What is made is there under its own name as a whole or not at all: another file may be looking, or another server of this one. */
function partialName(path: string): string {
  partials += 1
  return `${path}-${process.pid}-${partials}`
}

let launched = 0

/**
 * `initdb` takes a second or more of processor time. Where the run of all tests names a folder for it, each file copies what
 * another has made: one of four in turn, so that servers of one file are different clusters.
 */
async function makeCluster(
  site: Site,
  dataFolder: string,
  { binFolder, initdb = [] }: LaunchOptions,
): Promise<void> {
  const isUsual = binFolder === undefined && initdb.length === 0
  const kept = commonFolder !== undefined && isUsual ? join(commonFolder, String(launched % 4)) : undefined
  launched += 1
  if (kept !== undefined && existsSync(kept)) return await copyFolder(site, kept, dataFolder)
  const locale = ['--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync']
  const access = ['-D', dataFolder, '-U', 'postgres', '--auth=trust']
  await runToEnd(site, site.programs.initdb, [...access, ...locale, ...initdb])
  if (kept === undefined) return
  const partial = partialName(kept)
  await copyFolder(site, dataFolder, partial)
  await rename(partial, kept).catch(() => rm(partial, { recursive: true }))
}

/** As this user, who may be root: owners stay as they are. */
async function copyFolder({ folder }: Site, from: string, to: string): Promise<void> {
  const child = spawn('cp', ['-Rp', from, to], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const errors = textOf(child)
  const code = await hasEnded(child)
  if (code !== 0) throw new Error(`cp ended with ${code}: ${errors()}`)
}

/** Durable like a real one; small, and quiet enough to share two cores with the tests that use it. */
const quietSettings: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  port: String(port),
  shared_buffers: '64MB',
  max_connections: '120',
  max_wal_size: '512MB',
  log_min_messages: 'fatal',
  autovacuum_naptime: '10s',
  wal_retrieve_retry_interval: '100ms',
}

async function prepareServer(
  site: Site,
  name: string,
  remove: () => Promise<void>,
): Promise<LaunchedPostgres> {
  const socketFolder = join(site.folder, name)
  const dataFolder = join(socketFolder, 'data')
  await mkdir(socketFolder, { mode: 0o700 })
  if (site.owner !== undefined) await chown(socketFolder, site.owner.uid, site.owner.gid)
  let child: ChildProcess | undefined

  const halt = async (mode: 'fast' | 'crash'): Promise<void> => {
    if (child === undefined) return
    const halting = child
    const patience = setTimeout(() => halting.kill('SIGKILL'), 20_000)
    halting.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await hasEnded(halting)
    clearTimeout(patience)
    child = undefined
  }

  return {
    dataFolder,
    socketFile: join(socketFolder, `.s.PGSQL.${port}`),
    url: (database = 'postgres') => `postgres://postgres@${encodeURIComponent(socketFolder)}/${database}`,
    halt,
    async start(settings = {}) {
      const all = { ...quietSettings, unix_socket_directories: socketFolder, ...site.settings, ...settings }
      const given = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])
      child = spawnAs(site, site.programs.postgres, ['-D', dataFolder, ...given])
      await untilReady(child, dataFolder)
      // A process that is done may end without stopping its server first: the guard does.
      release(child)
    },
    prepareSibling: () => prepareServer(site, `sibling-${Date.now().toString(36)}`, () => Promise.resolve()),
    async [Symbol.asyncDispose]() {
      await halt('crash')
      await remove()
    },
  }
}

function spawnAs(site: Site, program: string, parameters: readonly string[]): ChildProcess {
  return spawn(program, parameters, {
    cwd: site.folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own: Ctrl-C must not take the server away from tests that are ending in order.
    detached: true,
    env: {
      ...process.env,
      LC_ALL: 'C',
      TZ: 'UTC',
      LD_LIBRARY_PATH: join(dirname(site.programs.postgres), '../lib'),
    },
    ...site.owner,
  })
}

async function runToEnd(site: Site, program: string, parameters: readonly string[]): Promise<void> {
  const child = spawnAs(site, program, parameters)
  const errors = textOf(child)
  const code = await hasEnded(child)
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${errors()}`)
}

/** The last line of `postmaster.pid` is PostgreSQL's own word on how far it has come. */
async function untilReady(child: ChildProcess, dataFolder: string): Promise<void> {
  const errors = textOf(child)
  const pidFile = join(dataFolder, 'postmaster.pid')
  const giveUp = Date.now() + startLimitMs
  while (!isOver(child) && Date.now() < giveUp) {
    const lines = existsSync(pidFile) ? (await readFile(pidFile, 'utf8')).split('\n') : []
    // A file left by a crash names another process.
    if (lines[0]?.trim() === String(child.pid) && /^(ready|standby)/.test(lines[7] ?? '')) return
    await delay(20)
  }
  child.kill('SIGKILL')
  throw new Error(`PostgreSQL did not start: ${errors()}`)
}

function textOf(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-4000)
  })
  return () => text
}

function isOver(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function hasEnded(child: ChildProcess): Promise<number> {
  if (isOver(child)) return Promise.resolve(child.exitCode ?? 1)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/**
 * A shell that waits for the end of its input, which comes when this process ends in any way, `kill -9` included; then
 * it ends the servers in the folder and removes it.
 */
function startGuard(folder: string): ChildProcess {
  const script = `trap '' INT TERM HUP
    cat >/dev/null
    [ -d "$1" ] || exit 0
    for file in "$1"/*/data/postmaster.pid; do
      [ -f "$file" ] && kill -QUIT "$(head -n 1 "$file")" 2>/dev/null
    done
    sleep 1
    rm -rf "$1"`
  const guard = spawn('/bin/sh', ['-c', script, 'guard', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    // Its few commands are in the system's folders, whether or not the tests were given those.
    env: { PATH: '/usr/bin:/bin' },
  })
  release(guard)
  return guard
}

/** Neither the child nor the pipes to it keep this process running. */
function release(child: ChildProcess): void {
  child.unref()
  for (const pipe of [child.stdin, child.stderr]) {
    if (pipe !== null && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref()
  }
}

/** For data that is copied in from elsewhere: all of it must belong to the user the server runs as. */
export async function giveToServer(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  if (process.getuid?.() !== 0) return
  await chown(folder, nobody.uid, nobody.gid)
  for (const path of await readdir(folder, { recursive: true })) {
    await chown(join(folder, path), nobody.uid, nobody.gid)
  }
}
