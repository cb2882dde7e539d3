/** Resident memory is looked at whatever else the service is short of. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'

it(
  'is what it was at the look before where no descriptor is free to learn it, and no error (D9)',
  { skip: process.platform === 'linux' ? false : 'only on Linux is a file read for it' },
  async () => {
    const program = join(import.meta.dirname, '../support/memory-short.ts')
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -n 64 && exec "$0" "$1"',
      process.execPath,
      program,
    ])
    assert.deepEqual(JSON.parse(stdout), { failure: 'EMFILE', isKnown: true, isSame: true })
  },
)
