import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTenant } from './make-tenant.ts'
import { runShared } from './shared-process.ts'

/** The program's own file. */
export const door = fileURLToPath(new URL('../../bin/property-events.mjs', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** Variables beside PATH and HOME: whatever the tests themselves run with stays outside. */
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string | Buffer
  readonly cwd?: string
  /** For Node itself. */
  readonly nodeArguments?: readonly string[]
  /** The most files that it may have open, sockets included. */
  readonly openFiles?: number
}

/** What runs keep lies apart from what the user who tests has: `XDG_STATE_HOME`, unless a test gives another one. */
const stateHome = mkdtempSync(join(tmpdir(), 'property-events-cli-state-'))
process.on('exit', () => rmSync(stateHome, { recursive: true, force: true }))

/** All variables of a command. */
function variablesOf({ environment }: RunOptions): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, XDG_STATE_HOME: stateHome, ...environment }
}

/** Starts one command and leaves it to the caller. */
export function spawnProgram(args: readonly string[], options: RunOptions = {}): ChildProcess {
  const own = [process.execPath, ...(options.nodeArguments ?? []), door, ...args]
  const { openFiles } = options
  const [program = '', ...rest] =
    openFiles === undefined ? own : ['/bin/sh', '-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, ...own]
  return spawn(program, rest, {
    env: variablesOf(options),
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
}

/** Runs one command to its end: in a process of its own where that can make a difference, and in the long run always. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return inLongRun || needsProcess(args, options) ? runAlone(args, options) : runInTurn(args, options)
}

const inLongRun = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
/** Variables that are read while a command runs, and not while Node starts or the program is loaded. */
const readLate = /^(PROPERTY_EVENTS_\w+|XDG_STATE_HOME|TMPDIR|NO_COLOR|FORCE_COLOR)$/

function needsProcess([command]: readonly string[], options: RunOptions): boolean {
  const { environment = {}, nodeArguments, openFiles } = options
  if (nodeArguments !== undefined || openFiles !== undefined) return true
  // A sync has its copy locked until its process ends.
  return command === 'sync' || !Object.keys(environment).every((name) => readLate.test(name))
}

/** The same in a process that has run other commands before. */
export function runInTurn(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { input = '', cwd = process.cwd() } = options
  return runShared({ args, environment: variablesOf(options), input, cwd })
}

/** The same in a process that runs nothing else. */
export function runAlone(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = spawnProgram(args, options)
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input ?? '')
  return finished(child)
}

/** Starts a command whose stdout nobody reads any more, as after `| head`. */
export function startCut(
  args: readonly string[],
  options: RunOptions = {},
): { readonly child: ChildProcess; readonly ended: Promise<number | null> } {
  const child = spawnProgram(args, options)
  child.stdout?.destroy()
  child.stderr?.resume()
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input ?? '')
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  return { child, ended }
}

/** Runs one to its end; resolves with the exit code. */
export function runCut(args: readonly string[], options: RunOptions = {}): Promise<number | null> {
  return startCut(args, options).ended
}

/** Runs a line that the program has printed for people to copy, as their shell does, as it stands. */
export function runPrinted(line: string, options: RunOptions = {}): Promise<Finished> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('/bin/sh', ['-euc', line], {
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
      HOME,
      XDG_STATE_HOME: stateHome,
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  return finished(child)
}

/** Runs a command that must succeed and print one JSON document. */
export async function runJson<Value>(args: readonly string[], options: RunOptions = {}): Promise<Value> {
  const { code, stdout, stderr } = await run([...args, '--json'], options)
  assert.equal(code, 0, stderr)
  assert.equal(stdout.split('\n').length, 2, 'one line of JSON')
  return JSON.parse(stdout) as Value
}

/** What a command that was started comes to. */
export function finished(child: ChildProcess): Promise<Finished> {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

export interface ServiceLine {
  readonly url: string
  readonly metricsUrl: string
  /** The page, or a link that signs in to it. */
  readonly console?: string
  /** Of a demo. */
  readonly adminKey?: string
  readonly tenants?: readonly {
    readonly tenantId: string
    readonly name: string
    readonly readKey: string
    readonly publishKey: string
  }[]
}

export interface Running {
  readonly line: ServiceLine
  readonly child: ChildProcess
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Finished>
}

/** Starts `serve` or `demo` on any free port and waits until it says that it is ready. */
export async function start(args: readonly string[], options: RunOptions = {}): Promise<Running> {
  const { text, child, stop } = await startUntil([...args, '--json'], /\n$/, options)
  return { line: JSON.parse(text) as ServiceLine, child, stop }
}

/** The same as a person sees it: waits until stdout shows what is expected. */
export async function startUntil(
  args: readonly string[],
  expected: RegExp,
  options: RunOptions = {},
): Promise<Omit<Running, 'line'> & { readonly text: string }> {
  // Nobody stands in front of most of these services, to be given time to notice that they stop.
  const drain = args.includes('--drain') ? [] : ['--drain', '0']
  const port = args.includes('--port') ? [] : ['--port', '0']
  const child = spawnProgram([...args, ...port, '--log-level', 'warn', ...drain], options)
  const end = finished(child)
  const text = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (part: string) => {
      text += part
      if (expected.test(text)) resolve(text)
    })
    void end.then(({ code, stderr }) => reject(new Error(`ended with ${code}: ${stderr}`)))
  })
  return {
    text,
    child,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return end
    },
  }
}

/** Runs a command until its stderr shows what is expected, or `expected` resolves; `stop` ends it as a person would. */
export async function runUntil(
  args: readonly string[],
  expected: RegExp | Promise<unknown>,
  options: RunOptions = {},
): Promise<Pick<Running, 'stop'>> {
  const child = spawnProgram(args, options)
  const end = finished(child)
  const shown = new Promise((resolve) => {
    let text = ''
    child.stderr?.on('data', (part: string) => {
      text += part
      if (expected instanceof RegExp && expected.test(text)) resolve(text)
    })
  })
  const early = end.then(({ code, stderr }) => Promise.reject(new Error(`ended with ${code}: ${stderr}`)))
  await Promise.race([expected instanceof RegExp ? shown : expected, early])
  early.catch(() => undefined)
  return {
    stop(signal = 'SIGINT') {
      child.kill(signal)
      return end
    },
  }
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'property-events-cli-'))
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}

/** A store with one tenant, served, with a key of each kind. */
export interface Market {
  readonly folder: string
  readonly url: string
  readonly metricsUrl: string
  readonly tenantId: string
  readonly readKey: string
  readonly publishKey: string
  close(): Promise<void>
}

export async function startMarket(): Promise<Market> {
  const folder = temporaryFolder()
  const data = ['--data', folder]
  const running = await start(['serve', ...data])
  const { tenantId, keys } = await makeTenant({ data: folder }, 'Hill & Co', {
    read: ['read'],
    publish: ['publish'],
  })
  return {
    folder,
    url: running.line.url,
    metricsUrl: running.line.metricsUrl,
    tenantId,
    readKey: keys.read.key,
    publishKey: keys.publish.key,
    async close() {
      const { code, stderr } = await running.stop()
      removeFolder(folder)
      assert.equal(code, 0, stderr)
    },
  }
}

/** The feed's page as a client sees it. */
export async function listEvents(
  url: string,
  key: string,
  query = '',
  path = '/api/func/api/v1/events/getevents',
): Promise<{ status: number; body: { items: readonly Record<string, unknown>[]; availableCount: number } }> {
  const response = await fetch(`${url}${path}?${query}`, { headers: { 'x-api-key': key } })
  const body = (await response.json()) as {
    items: readonly Record<string, unknown>[]
    availableCount: number
  }
  return { status: response.status, body }
}
