/**
 * Runs the tests with Node's own runner. `--long` runs more cycles of the same tests; further arguments are files, in
 * place of all of them.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const given = process.argv.slice(2)
const long = given.includes('--long')
const named = given.filter((argument) => !argument.startsWith('--'))
const files =
  named.length > 0
    ? named
    : globSync(['packages/*/test/**/*.test.ts', 'examples/**/*.test.ts'], { cwd: root }).sort()
if (files.length === 0) throw new Error('no test files were found')

const options = ['--test', '--test-concurrency=2', `--test-timeout=${long ? 3_600_000 : 300_000}`]
const env = { ...process.env, ...(long ? { PROPERTY_EVENTS_TEST_LONG: '1' } : {}) }
const result = spawnSync(process.execPath, [...options, ...files], { cwd: root, stdio: 'inherit', env })
process.exit(result.status ?? 1)
