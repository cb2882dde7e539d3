#!/usr/bin/env node
/**
 * The door to the program: plain JavaScript for any Node from 20. It checks the Node version before anything native or
 * any TypeScript is loaded (better-sqlite3 crashes old ones), and hands over to a carried Node where there is one.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { faultOfCarried, findCarried } from '../carried-node/index.mjs'
import { watchStarter } from './watch-starter.mjs'

/** The oldest Node that strips types without a flag and holds everything the program uses. */
const oldestMajor = 24

/**
 * Settings of V8's own, which come and go with its versions. Old objects may grow by half before they are collected: V8 itself lets them
 * grow to four times as many under load, and collects sooner at rest. A function gets its best code after a thousand calls: by itself V8
 * waits for three thousand and more, and a service with one publisher was not there after 45 s, for 1.12 times as many single events a
 * second and 0.84 of the processor's time.
 */
const settingsOfV8 = ['--heap-growing-percent=50', '--invocation-count-for-turbofan=1000']

const servesForLong = process.argv[2] === 'serve' || process.argv[2] === 'demo'

const major = Number.parseInt(process.versions.node, 10)

if (isBareClone())
  refuse(
    'The packages of this clone are not installed yet. Run `npm start` first: it installs them and starts a demo.',
  )
else if (major >= oldestMajor) {
  startSparing()
  const fault = servesForLong ? faultOfThisNode() : undefined
  if (fault === undefined) {
    enableCache()
    endWithStarter()
    const { main } = await import('../src/main.ts')
    process.exitCode = await main(process.argv.slice(2), process.env)
  } else refuse(fault)
} else startOnCarried()

/** As it was cloned. npx finds the program there because the clone's package.json names it. */
function isBareClone() {
  const clone = fileURLToPath(new URL('../../..', import.meta.url))
  return existsSync(join(clone, 'scripts/install.mjs')) && !existsSync(join(clone, 'node_modules'))
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

/**
 * Why this Node must not serve: it is the carried one, and not as it is known. It is asked about itself, so this finds what was damaged,
 * mixed up or replaced by another build, and no program that was made to lie: \`npm\` asks before it starts it, and so can another Node.
 */
function faultOfThisNode() {
  const carried = findCarried()
  const isThis = carried !== undefined && realpathSync(carried.path) === realpathSync(process.execPath)
  return isThis ? faultIn(carried) : undefined
}

function faultIn(carried) {
  const fault = faultOfCarried(carried)
  return fault === undefined ? undefined : `${fault.detail} ${fault.remedy}`
}

/** Where this Node is too old. The carried one is tried out, because its Linux builds need glibc. */
function startOnCarried() {
  const carried = findCarried()
  const fault = carried === undefined ? undefined : faultIn(carried)
  if (fault !== undefined) refuse(fault)
  else if (carried !== undefined && spawnSync(carried.path, ['--version']).status === 0)
    handOver(carried.path)
  else {
    refuse(
      `property-events needs Node ${oldestMajor} or newer, and this is ${process.version}: install one from https://nodejs.org, then run the command again.`,
    )
  }
}

/**
 * What serves for long starts once more in its own place, with settings that are read only while a process starts. The C library gives
 * blocks of 128 kB and more back to the system as soon as they are free: by itself it does so with ever longer ones only, of up to 32 MB, and
 * after a burst kept 200 MB in pieces (reading pages of 450 kB from the store takes as long either way). V8 can be told to collect its garbage when a burst is over. All threads take their
 * memory from one heap of the C library instead of keeping one each, and what V8 sets aside for new objects grows to 32 MB a thread
 * instead of 64; the start takes some 25 ms longer. With 16 MB, single events to fifty feeds took 40 µs more of the processor each, of
 * some 450, and half of that in V8's own threads; 19 MB less were resident at the peak, and as many at rest.
 * Whoever sets MALLOC_ARENA_MAX decides by themselves.
 */
function startSparing() {
  const [, program, ...args] = process.argv
  const { MALLOC_ARENA_MAX: given, MALLOC_MMAP_THRESHOLD_: done } = process.env
  // Windows has no `execve`.
  if (!servesForLong || given !== undefined || done !== undefined || process.platform === 'win32') return
  const nodeArguments = [
    '--expose-gc',
    ...acceptedOf(settingsOfV8),
    // `node:ffi`, by which memory is given back, says each time that it is experimental.
    '--disable-warning=ExperimentalWarning',
    '--max-semi-space-size=16',
    ...process.execArgv,
  ]
  const environment = {
    ...process.env,
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '8388608',
    MALLOC_ARENA_MAX: '1',
  }
  process.execve?.(process.execPath, [process.argv0, ...nodeArguments, program, ...args], environment)
}

/** Those that this Node knows. One that does not know a setting refuses to start, so they are tried out first, which takes 17 ms. */
function acceptedOf(settings) {
  const isAccepted = (some) => spawnSync(process.execPath, [...some, '--version']).status === 0
  return isAccepted(settings) ? settings : settings.filter((one) => isAccepted([one]))
}

/**
 * Keeps what Node makes of the sources (types stripped, compiled) for the next start: 0.35 s instead of 0.6, and 30 MB less
 * memory, because the type stripper is not loaded. In a folder of the program's own and not in the system's shared one,
 * where others could put something; where it cannot be written, nothing is kept.
 */
function enableCache() {
  const directory = join(import.meta.dirname, '../node_modules/.compile-cache')
  // Threads look at the variable, not at what this one was told.
  process.env.NODE_COMPILE_CACHE ??= directory
  nodeModule.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
}

/** A process that a wrapper or npx has started ends with it, as it does on SIGTERM. */
function endWithStarter() {
  const { WRAPPER_OF_PROPERTY_EVENTS: wrapper, npm_lifecycle_event: event } = process.env
  if (wrapper !== String(process.ppid) && event !== 'npx') return
  watchStarter(() => process.kill(process.pid, 'SIGTERM'))
}

/** Runs the same command line in another Node; what stops this process stops that one. */
function handOver(node) {
  endWithStarter()
  const env = { ...process.env, WRAPPER_OF_PROPERTY_EVENTS: String(process.pid) }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit', env })
  // A terminal sends Ctrl-C to the whole group, so the child has it already; a lone `kill -INT` has to be passed on.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal]
  })
}
