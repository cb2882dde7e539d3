/** The container file, step by step without a container runtime, and what comes out of it, started. Needs the registry and root. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { finished } from '../support/program.ts'

const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']

function missing(): string | false {
  if (!isLongRun) return 'only in test:long'
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs Linux, as root'
  const { status } = spawnSync('unshare', [...namespaces, 'true'])
  return status === 0 ? false : 'this machine lets nobody make namespaces'
}

describe('the container file', { skip: missing() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-container-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('leads to a service that is well, as a user without rights on a root that cannot be written to (D11)', async (context) => {
    // The network stays: packages are installed.
    const spaces = namespaces.filter((name) => name !== '--net')
    const script = 'mount -t tmpfs tmpfs "$1" && exec "$2" "$3" "$1"'
    const build = join(import.meta.dirname, '../support/container/build.ts')
    const child = spawn('unshare', [
      ...spaces,
      '/bin/sh',
      '-c',
      script,
      'sh',
      folder,
      process.execPath,
      build,
    ])
    const { code, stdout, stderr } = await finished(child)
    assert.equal(code, 0, `${stdout}\n${stderr}`)
    const found = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Readonly<Record<string, unknown>>
    assert.match(String(found['version']), /^\d+\.\d+\.\d+$/)
    assert.match(String(found['published']), /^20 published/)
    assert.deepEqual([found['cannotWrite'], found['exitCode']], [true, 0])
    context.diagnostic(`/opt/property-events: ${String(found['megabytes'])} MB`)
  })
})
