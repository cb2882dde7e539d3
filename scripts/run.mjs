#!/usr/bin/env node
/**
 * What the npm scripts call: installs what is missing, finds a Node that is new enough, and hands over to it.
 * Plain JavaScript for any Node from 20.
 */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { watchStarter } from '../packages/cli/bin/watch-starter.mjs'
import { findNode, oldestMajor } from './find-node.mjs'
import { installMissing } from './install.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const [task = '', ...rest] = process.argv.slice(2)
const program = join(root, 'packages/cli/bin/property-events.mjs')
const bin = (name) => join(root, 'node_modules', name)

/** Each task: what must be installed, and the command lines that Node runs one after the other. */
const tasks = {
  start: { needs: 'program', lines: [[program, 'demo', ...rest]] },
  cli: { needs: 'program', lines: [[program, ...rest]] },
  test: { needs: 'everything', lines: [[join(root, 'scripts/test.mjs'), ...rest]] },
  'test:long': { needs: 'everything', lines: [[join(root, 'scripts/test.mjs'), '--long', ...rest]] },
  bench: { needs: 'everything', lines: [[join(root, 'bench/run.ts'), ...rest]] },
  'bench:report': { needs: 'everything', lines: [[join(root, 'bench/report.ts')]] },
  pack: { needs: 'everything', lines: [[join(root, 'scripts/pack.ts'), ...rest]] },
  'wordpress-zip': { needs: 'everything', lines: [[join(root, 'scripts/wordpress-zip.ts'), ...rest]] },
  'wordpress-pot': { needs: 'everything', lines: [[join(root, 'scripts/wordpress-pot.ts'), ...rest]] },
  sbom: { needs: 'program', lines: [[join(root, 'scripts/sbom.mjs'), ...rest]] },
  openapi: { needs: 'everything', lines: [[join(root, 'scripts/write-generated.ts')]] },
  schema: { needs: 'everything', lines: [[join(root, 'scripts/write-schema.ts')]] },
  console: { needs: 'everything', lines: [[join(root, 'packages/console/build.ts')]] },
  rooms: { needs: 'everything', lines: [[join(root, 'scripts/rooms.ts')]] },
  check: {
    needs: 'everything',
    lines: [
      [bin('oxfmt/bin/oxfmt'), '--check', '.'],
      [bin('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings', '.'],
      [bin('typescript/bin/tsc'), '-p', 'tsconfig.json'],
      // What runs in a browser has other globals.
      [bin('typescript/bin/tsc'), '-p', 'scripts/reference/browser'],
      [bin('typescript/bin/tsc'), '-p', 'packages/console/src'],
    ],
  },
  format: { needs: 'everything', lines: [[bin('oxfmt/bin/oxfmt'), '.']] },
}

const chosen = Object.hasOwn(tasks, task) ? tasks[task] : undefined
if (chosen === undefined) {
  process.stderr.write(`Unknown task "${task}". There are: ${Object.keys(tasks).join(', ')}.\n`)
  process.exit(2)
}
installMissing(root, chosen.needs)
const found = findNode()
if (found === undefined) {
  process.stderr.write(
    `Property Events needs Node ${oldestMajor} or newer; this is ${process.version} and no packaged Node runs on ` +
      `${process.platform} ${process.arch}. Install one from https://nodejs.org and run the command again.\n`,
  )
  process.exit(1)
}
if ('fault' in found) {
  process.stderr.write(`${found.fault}\n`)
  process.exit(1)
}

for (const line of chosen.lines) {
  const code = await run(found.path, line)
  if (code !== 0) process.exit(code)
}

/** Runs one command line to its end; what stops this process stops that one. */
function run(command, args) {
  // Where the user started it, paths such as --data mean what they say; npm itself always starts in the root.
  const cwd = ['start', 'cli', 'pack', 'wordpress-zip'].includes(task)
    ? (process.env.INIT_CWD ?? process.cwd())
    : root
  const env = {
    ...process.env,
    PATH: dirname(command) + delimiter + (process.env.PATH ?? ''),
    // The program ends when this process has ended in a way that it cannot pass on.
    WRAPPER_OF_PROPERTY_EVENTS: String(process.pid),
  }
  const child = spawn(command, args, { stdio: 'inherit', cwd, env })
  const forward = (signal) => child.kill(signal)
  process.on('SIGTERM', forward)
  process.on('SIGHUP', forward)
  // A terminal sends Ctrl-C to the whole group, so the child has it already; a lone `kill -INT` has to be passed on.
  process.on('SIGINT', (signal) => {
    if (!process.stdin.isTTY) forward(signal)
  })
  // npm does not pass signals on to what its shell has started: when npm is gone, the service has to go too.
  if (process.env.npm_lifecycle_event !== undefined) watchStarter(() => forward('SIGTERM'))
  return new Promise((resolve) => {
    child.on('error', (error) => {
      process.stderr.write(`${command} could not be started: ${error.message}\n`)
      resolve(1)
    })
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  })
}
