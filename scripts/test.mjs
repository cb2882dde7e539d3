/**
 * Runs the tests with Node's own runner. `--long` runs more cycles of the same tests; further arguments are files, in
 * place of all of them. Any other run ends within a limit. And no process that a test has left behind outlives the run, where it would hold the terminal or the pipe.
 */
import { spawn } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolderInMemory } from '../packages/server/test/support/folder-in-memory.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const given = process.argv.slice(2)
const long = given.includes('--long')
const named = given.filter((argument) => !argument.startsWith('--'))
const files =
  named.length > 0
    ? named
    : globSync(['packages/*/test/**/*.test.ts', 'examples/**/*.test.ts'], { cwd: root }).sort()
if (files.length === 0) throw new Error('no test files were found')

/**
 * Five files at a time: many tests wait for a process or a time-out, and three files left an eighth of two cores idle. More would not end
 * sooner, as processor time is then the bound.
 */
const filesAtOnce = 5
const options = [
  '--test',
  `--import=${new URL('end-with-tests.mjs', import.meta.url)}`,
  // Room for new objects from the beginning: V8 begins with 1 MB, and collecting it more often took up to a sixth of a file's processor time.
  '--min-semi-space-size=16',
  `--test-concurrency=${filesAtOnce}`,
  `--test-timeout=${long ? 3_600_000 : 300_000}`,
]
/** What the files of this run have in common: gone with it. */
const shared = mkdtempSync(join(tmpdir(), 'property-events-tests-'))
process.on('exit', () => rmSync(shared, { recursive: true, force: true }))
const clusters = join(shared, 'clusters')
mkdirSync(clusters)
// Where root runs the tests, another user runs PostgreSQL.
chmodSync(shared, 0o711)
const stores = makeFolderInMemory()
process.on('exit', () => rmSync(stores, { recursive: true, force: true }))
const env = {
  ...process.env,
  ...(long ? { PROPERTY_EVENTS_TEST_LONG: '1' } : {}),
  // What Node makes of the sources, and what `initdb` makes: each once, and not once by every file.
  NODE_COMPILE_CACHE: join(shared, 'compiled'),
  PROPERTY_EVENTS_TEST_CLUSTERS: clusters,
  PROPERTY_EVENTS_TEST_STORES: stores,
}
const server = named.length === 0 ? await startServer() : undefined
if (server !== undefined) env.PROPERTY_EVENTS_TEST_SERVER_URL = server.url()
// A group of its own, so that one signal reaches the runner, its files and what these have started.
const runner = spawn(process.execPath, [...options, ...files], {
  cwd: root,
  stdio: 'inherit',
  env,
  detached: true,
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => signalGroup(signal))

const limitMinutes = long ? undefined : 60
if (limitMinutes !== undefined) setTimeout(giveUp, limitMinutes * 60_000).unref()

runner.on('exit', (code) => {
  signalGroup('SIGKILL')
  // The server ends with this process, whatever ends it.
  process.exit(code ?? 1)
})

/**
 * One PostgreSQL for all files that only want a place for stores. Each starts one of its own where there is none: that takes
 * a second of processor time, and seventy files do.
 */
async function startServer() {
  process.env.PROPERTY_EVENTS_TEST_CLUSTERS = clusters
  const { launchPostgres } = await import('../packages/server/test/postgres/launch-postgres.ts')
  // No test that shares it takes its power away: those that look at what is on the disk start their own.
  const settings = { max_connections: '400', shared_buffers: '128MB', fsync: 'off' }
  return launchPostgres({ settings }).catch((error) => {
    process.stderr.write(`There is no PostgreSQL for all files: ${error.message}\n`)
  })
}

/** The runner names the files that were still running when it is asked to stop. */
function giveUp() {
  process.stderr.write(
    `\nThe tests did not end within ${limitMinutes} minutes; they usually take 20. Stopping them.\n`,
  )
  signalGroup('SIGTERM')
  setTimeout(signalGroup, 10_000, 'SIGKILL')
}

function signalGroup(signal) {
  if (runner.pid === undefined) return
  try {
    process.kill(-runner.pid, signal)
  } catch {
    // Nobody is left in it.
  }
}
